/** Files whose slow regular expressions see short texts only: of at most so many characters. */
export const boundedPatterns: Readonly<Record<string, { readonly most: number; readonly because: string }>> = {
  'doors/http/queries/draft-sql.ts': { most: 400, because: 'a prompt has at most 400 characters' },
  'events/ingestion/decoding/parse-time.ts': { most: 128, because: 'a text of more than 128 characters is no time' },
  'engine/storage/duckdb/engine-errors.ts': { most: 2_000, because: 'a message of the engine is cut to 2,000 characters' },
}
