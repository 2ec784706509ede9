import { setTimeout } from 'node:timers/promises'
import { WaymarkError } from '../../errors/errors.ts'
import type { Figures } from '../http/server/figures.ts'
import { type Command, wrongUsage } from './command.ts'
import { dataOption, mustBeDataDirectory } from './directory.ts'
import { type RunningServer, runningServer } from './running-server.ts'
import { ratesOf, topText } from './top-text.ts'

const clearScreen = '\x1b[H\x1b[2J\x1b[3J'
/** Between the two looks of `--once`. */
const onceMs = 1_000

function millisecondsOf(text: string): number {
  const [, number] = /^(\d{1,4}(?:\.\d)?)s?$/.exec(text) ?? []
  if (!number || Number(number) < 0.5) throw wrongUsage(`--every must be seconds from 0.5, such as 2s, but got ${text}.`)
  return Number(number) * 1000
}

const serverOf = async (dataDir: string): Promise<RunningServer> => {
  await mustBeDataDirectory(dataDir)
  const server = await runningServer(dataDir)
  if (server) return server
  throw new WaymarkError('command-failed', {
    message: `No server is running on ${dataDir}. \`waymark serve --data ${dataDir}\` starts one.`,
  })
}

export const top: Command = {
  options: {
    data: dataOption,
    every: { value: 'TIME', summary: 'time between two looks', default: '2s' },
    once: { summary: 'print one look, with rates of one second, and exit' },
    json: { summary: 'print each look as one line of JSON' },
  },
  run: async (values, { out }) => {
    const everyMs = millisecondsOf(values.required('every'))
    const isOnce = values.isOn('once')
    const server = await serverOf(values.required('data'))
    const stop = new AbortController()
    const interrupt = () => stop.abort()
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    const wait = (ms: number) => setTimeout(ms, undefined, { signal: stop.signal }).catch(() => undefined)
    const isScreen = process.stdout.isTTY && !isOnce && !values.isOn('json')
    let before: Figures | null = null
    try {
      if (isOnce) {
        before = await server.do('figures', {})
        await wait(onceMs)
      }
      while (!stop.signal.aborted) {
        const now: Figures = await server.do('figures', {})
        if (values.isOn('json')) out(JSON.stringify({ ...now, rates: ratesOf(before, now) }))
        else
          out(
            `${isScreen ? clearScreen : ''}${topText(before, now, isScreen ? process.stdout.rows : undefined)}${isScreen || isOnce ? '' : '\n'}`,
          )
        if (isOnce) return
        before = now
        await wait(everyMs)
      }
    } finally {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    }
  },
}
