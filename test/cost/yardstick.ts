import type { Figures } from './probe.ts'

// The budgets are milliseconds of the machine that they were set on. On a slower one everything takes longer, so what is measured is divided by how
// much longer a fixed piece of work takes there.

/** Processor time of the work below on the machine of the budgets (AMD EPYC, 2.6 GHz, Node 20). */
const expectedMs = 150

const rounds = 7

function work(): number {
  const items = Array.from({ length: 60_000 }, (_, i) => ({ id: (i * 7_919) % 60_000, name: `item ${i}`, tags: [String(i), `${i % 7}`] }))
  const read = JSON.parse(JSON.stringify(items)) as typeof items
  const counts = new Map<string, number>()
  for (const { tags } of read) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  read.sort((a, b) => a.id - b.id)
  return counts.size + read.map(({ name }) => name).join(',').length
}

/** 1 on the machine of the budgets or a faster one, 2 where the same work takes twice as long. */
export function slowness(): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < rounds; i++) {
    const start = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(start)
    least = Math.min(least, (user + system) / 1000)
  }
  return Math.max(1, least / expectedMs)
}

/** What it would have taken on the machine of the budgets. */
export const scaled = (figures: Figures, slow: number): Figures => ({
  ...figures,
  cpuMs: rounded(figures.cpuMs / slow),
  holdMs: rounded(figures.holdMs / slow),
  othersMs: rounded(figures.othersMs / slow),
})
const rounded = (ms: number) => Math.round(ms * 10) / 10
