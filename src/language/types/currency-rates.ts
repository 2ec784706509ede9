/** Exchange rates by day. */
export interface CurrencyRates {
  /** Days since 1970 from which rates count, ascending. The first ones count for earlier days too, the last ones for later days. */
  readonly days: readonly number[]
  /** For each code in upper case and each of `days`: how much of the currency is one unit of a currency that all rates are based on. */
  readonly rates: Readonly<Record<string, readonly number[]>>
}
