// A question lacks values in the lists: it waits until they have been read, or statements answer it meanwhile. What either costs is measured as it happens.

const kept = 0.5
/** What is done faster is not measured: it says more about its beginning. */
const fewest = 100_000
/** Reading this long is not worth a statement, whatever that costs. */
const alwaysSeconds = 0.25
/** Values, or events, a second, until one has been measured. */
const unknown = { reading: 2_000_000, statement: 4_000_000 }
/** The same of statements that order the events of each person. */
const slowStatements: ReadonlyMap<string, number> = new Map([
  ['paths', 1_000_000],
  ['paths, previous period', 1_000_000],
  ['actors of paths', 1_000_000],
])

const mean = (known: number | undefined, now: number) => (known === undefined ? now : kept * known + (1 - kept) * now)

export class ReadingRates {
  private reading: number | undefined
  /** By what is folded: funnels cost more than counts. */
  private readonly statements = new Map<string, number>()

  /** Values were read from the store for the lists. */
  hasRead(values: number, seconds: number): void {
    if (values >= fewest && Number.isFinite(values)) this.reading = mean(this.reading, values / seconds)
  }

  /** Statements took this long without the lists. One that failed would have taken longer, which is known only where it took longer than was thought. */
  hasAnswered(what: string, events: number, seconds: number, isWhole: boolean): void {
    if (events < fewest) return
    if (isWhole || seconds > this.statementSeconds(what, events))
      this.statements.set(what, mean(this.statements.get(what), events / seconds))
  }

  /** Whether a question waits for so many values. */
  isFaster(values: number, what: string, events: number): boolean {
    const seconds = values / (this.reading ?? unknown.reading)
    return seconds <= Math.max(alwaysSeconds, this.statementSeconds(what, events))
  }

  private statementSeconds(what: string, events: number): number {
    return events / (this.statements.get(what) ?? slowStatements.get(what) ?? unknown.statement)
  }
}
