import type { LackingValues, ReadKind } from '../../core/lists/ports.ts'

// A question lacks values in the lists: it waits until they have been read, or statements answer it meanwhile. What either costs is measured as it happens.

const kept = 0.5
/** What is done faster is not measured: it says more about its beginning. */
const fewest = 100_000
/** Reading this long is not worth a statement, whatever that costs. */
const alwaysSeconds = 0.25
/** Values a second, until they have been measured. */
const unmeasured: Readonly<Record<ReadKind, number>> = {
  lists: 2_000_000,
  flags: 10_000_000,
  codes: 4_000_000,
  ids: 1_000_000,
  numbers: 6_000_000,
  actors: 400_000,
}
/** Events a second that statements read, until it has been measured, by how their names begin. The last ones are those of all others. */
const unmeasuredStatements: readonly (readonly [begin: string, rate: number])[] = [
  ['series', 25_000_000],
  ['web', 10_000_000],
  ['paths', 1_000_000],
  ['actors of paths', 1_000_000],
  ['', 4_000_000],
]

const mean = (known: number | undefined, now: number) => (known === undefined ? now : kept * known + (1 - kept) * now)
const kinds = (values: LackingValues) => Object.entries(values) as [ReadKind, number][]

export class ReadingRates {
  private readonly reading = new Map<ReadKind, number>()
  /** By what is folded: funnels cost more than counts. */
  private readonly statements = new Map<string, number>()

  /** Values were read from the store for the lists. Where they are of several kinds, each took its part of the time as it was expected. */
  hasRead(values: LackingValues | null, seconds: number): void {
    if (values === null || kinds(values).reduce((sum, [, count]) => sum + count, 0) < fewest) return
    const faster = this.readingSeconds(values) / seconds
    for (const [kind, count] of kinds(values))
      if (count > 0) this.reading.set(kind, mean(this.reading.get(kind), this.rateOf(kind) * faster))
  }

  /** Statements took this long without the lists. One that failed would have taken longer, which is known only where it took longer than was thought. */
  hasAnswered(what: string, events: number, seconds: number, isWhole: boolean): void {
    if (events < fewest) return
    if (isWhole || seconds > this.statementSeconds(what, events))
      this.statements.set(what, mean(this.statements.get(what), events / seconds))
  }

  /** Whether a question waits for values. Null: it would have to wait for those of others before. */
  isFaster(values: LackingValues | null, what: string, events: number): boolean {
    return values !== null && this.readingSeconds(values) <= Math.max(alwaysSeconds, this.statementSeconds(what, events))
  }

  private readingSeconds(values: LackingValues): number {
    return kinds(values).reduce((sum, [kind, count]) => sum + count / this.rateOf(kind), 0)
  }

  private rateOf(kind: ReadKind): number {
    return this.reading.get(kind) ?? unmeasured[kind]
  }

  private statementSeconds(what: string, events: number): number {
    const known = this.statements.get(what) ?? unmeasuredStatements.find(([begin]) => what.startsWith(begin))![1]
    return events / known
  }
}
