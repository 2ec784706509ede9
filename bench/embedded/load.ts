import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import type { LoadCommand, LoadFigures } from './protocol.ts'

// Sends requests at a constant rate, whether or not earlier ones are answered, and measures each from when it was due. One command a line.

const agent = new Agent({ keepAlive: true, maxSockets: 512 })

const get = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request(url, { agent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode === 200))
      answer.on('error', () => resolve(false))
    })
    asked.on('error', () => resolve(false))
    asked.end()
  })

async function load({ url, rate, seconds }: LoadCommand): Promise<LoadFigures> {
  const count = Math.round(rate * seconds)
  const ms: (number | null)[] = Array.from({ length: count }, () => null)
  const lateMs: number[] = []
  const begun = performance.now()
  const dueAt = (n: number) => begun + (n * 1_000) / rate
  const one = async (n: number) => {
    lateMs.push(performance.now() - dueAt(n))
    if (await get(`${url}${n}`)) ms[n] = performance.now() - dueAt(n)
  }
  const pending: Promise<void>[] = []
  while (pending.length < count) {
    while (pending.length < count && dueAt(pending.length) <= performance.now()) pending.push(one(pending.length))
    await setTimeout(1)
  }
  await Promise.all(pending)
  return { begunAt: performance.timeOrigin + begun, ms, lateMs }
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await load(JSON.parse(line) as LoadCommand))}\n`)
process.exit()
