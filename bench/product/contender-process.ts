import { createInterface } from 'node:readline'
import type { EventFiles, OpenContender, Prepared, Resources, Rows } from './contender.ts'
import { type ContenderKey, contenders } from './contenders.ts'
import type { DataSet } from './generator.ts'
import { progress } from './progress.ts'
import { questions } from './questions.ts'

// One contender in a process of its own. Orders of the other process, one a line: see `Order`.

export type Order =
  | { readonly do: 'load'; readonly events: EventFiles }
  | { readonly do: 'open'; readonly data: DataSet }
  /** Answers `times` times, for at most about `seconds`. */
  | { readonly do: 'time'; readonly question: number; readonly times: number; readonly seconds: number }
  /** Waits for what earlier answers have begun. */
  | { readonly do: 'settle'; readonly question: number }
  | { readonly do: 'rows'; readonly question: number }
  /** Events come from now on, so many a second; 0: no longer. */
  | { readonly do: 'feed'; readonly perSecond: number }
export interface Done {
  readonly failed?: string
  /** The contender cannot answer it yet. */
  readonly isMissing?: boolean
  /** For each time. */
  readonly ms?: readonly number[]
  readonly rows?: Rows
  readonly version?: string
  readonly peakMb: number
}

const [key, setup] = process.argv.slice(2) as [ContenderKey, string]
const contender = contenders[key]
const resources = JSON.parse(setup) as Resources
let opened: OpenContender | undefined
let stopFeeding: (() => Promise<void>) | undefined

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function timesOf(prepared: Prepared, times: number, seconds: number): Promise<number[]> {
  const ms: number[] = []
  const end = performance.now() + seconds * 1000
  while (ms.length < times && (ms.length < 2 || performance.now() < end)) ms.push(await timed(() => prepared.ask()))
  return ms
}

async function follow(order: Order): Promise<Omit<Done, 'peakMb'>> {
  if (order.do === 'load') {
    const onProgress = progress(`${contender.name}: loading`, order.events.data.events)
    return { ms: [await timed(() => contender.load(order.events, resources, onProgress))] }
  }
  if (order.do === 'open') {
    const start = performance.now()
    opened = await contender.open(order.data, resources)
    return { ms: [performance.now() - start], version: opened.version }
  }
  if (order.do === 'feed') {
    await stopFeeding?.()
    stopFeeding = order.perSecond > 0 ? opened!.feed?.(order.perSecond) : undefined
    return { isMissing: order.perSecond > 0 && !stopFeeding }
  }
  const prepared = await opened!.prepare(questions[order.question]!)
  if (prepared === null) return { isMissing: true }
  if (order.do === 'rows') return { rows: await prepared.rows(await prepared.ask()) }
  if (order.do === 'settle') {
    await prepared.settle?.()
    return {}
  }
  return { ms: await timesOf(prepared, order.times, order.seconds) }
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const done = await follow(JSON.parse(line) as Order).catch((error: Error) => ({ failed: error.message }))
  console.log(JSON.stringify({ ...done, peakMb: process.resourceUsage().maxRSS / 1024 } satisfies Done))
}
await stopFeeding?.()
await opened?.close()
process.exit() // ClickHouse's threads may go on
