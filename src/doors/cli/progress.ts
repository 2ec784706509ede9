import type { ImportProgress } from '../../events/imports/run.ts'

const duration = (seconds: number) =>
  seconds < 60
    ? `${Math.ceil(seconds)}s`
    : seconds < 3600
      ? `${Math.floor(seconds / 60)}m ${Math.round(seconds % 60)}s`
      : `${(seconds / 3600).toFixed(1)}h`

const barWidth = 24
const everyMs = { terminal: 100, plain: 5000 } as const

/** One updating line on a terminal, otherwise a line at intervals. */
function updatingLine(stream: NodeJS.WriteStream, now: () => number) {
  let drawn = now()
  return {
    show(text: () => string, isDone: boolean) {
      if (!isDone && now() - drawn < (stream.isTTY ? everyMs.terminal : everyMs.plain)) return
      drawn = now()
      stream.write(stream.isTTY ? `\r\x1b[2K${text()}` : `${text()}\n`)
    },
    end() {
      if (stream.isTTY) stream.write('\n')
    },
  }
}

/** Shows how far work with several steps is. */
export function stepsLine(stream: NodeJS.WriteStream, now: () => number = Date.now) {
  const line = updatingLine(stream, now)
  let isShown = false
  return {
    show(text: string) {
      isShown ||= stream.isTTY
      line.show(() => text, false)
    },
    end() {
      if (isShown) line.end()
    },
  }
}

/** Shows the bytes of a download. */
export function downloadLine(stream: NodeJS.WriteStream, now: () => number = Date.now) {
  const began = now()
  const line = updatingLine(stream, now)
  return {
    show(bytes: number, isDone = false) {
      const seconds = (now() - began) / 1000
      const megabytes = (bytes / 1e6).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
      line.show(
        () => (bytes === 0 ? `Waiting for the first rows: ${duration(seconds)}` : `${megabytes} MB in ${duration(seconds)}`),
        isDone,
      )
    },
    end: () => line.end(),
  }
}

/** Shows the progress of an import. */
export function progressLine(
  stream: NodeJS.WriteStream,
  now: () => number = Date.now,
): { show(progress: ImportProgress): void; end(): void } {
  const line = updatingLine(stream, now)
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
      line.show(() => text(progress), progress.isDone)
    },
    end: () => line.end(),
  }
}
