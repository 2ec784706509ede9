import type { ImportProgress } from '../imports/run.ts'

const duration = (seconds: number) =>
  seconds < 60
    ? `${Math.ceil(seconds)}s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)}m ${Math.round(seconds % 60)}s`
      : `${(seconds / 3600).toFixed(1)}h`

const barWidth = 24
const everyMs = { terminal: 100, plain: 5000 } as const

/** Shows the progress of an import: one updating line on a terminal, otherwise a line at intervals. */
export function progressLine(
  stream: NodeJS.WriteStream,
  now: () => number = Date.now,
): { show(progress: ImportProgress): void; end(): void } {
  let drawn = now()
  let file = ''
  let fileBegan = now()
  const text = ({ rows, bytesRead, bytes, file: name }: ImportProgress) => {
    const seconds = (now() - fileBegan) / 1000
    const share = bytes > 0 ? Math.min(1, bytesRead / bytes) : 0
    const rate = seconds > 0 ? Math.round(rows / seconds) : 0
    const left = share > 0.01 && share < 1 ? `, ${duration((seconds / share) * (1 - share))} left` : ''
    const bar =
      share > 0
        ? `[${'#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.')}] ${String(Math.round(share * 100)).padStart(3)} %  `
        : ''
    return `${name}  ${bar}${rows.toLocaleString('en')} rows, ${rate.toLocaleString('en')}/s${left}`
  }
  return {
    show(progress) {
      if (progress.file !== file) {
        file = progress.file
        fileBegan = now()
      }
      if (!progress.isDone && now() - drawn < (stream.isTTY ? everyMs.terminal : everyMs.plain)) return
      drawn = now()
      stream.write(stream.isTTY ? `\r\x1b[2K${text(progress)}` : `${text(progress)}\n`)
    },
    end() {
      if (stream.isTTY) stream.write('\n')
    },
  }
}
