/** A query case of the conformance suites that does not hold on ClickHouse. */
export interface KnownDifference {
  readonly cases: RegExp
  readonly reason: string
}

/** One that no case shows any more fails, as does a case that fails and is not here. */
export const knownDifferences: readonly KnownDifference[] = []
