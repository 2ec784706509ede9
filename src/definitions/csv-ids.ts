/** Ids from a CSV: the column named person_id or distinct_id when the first line names its columns, else the first column. */
export function csvIds(text: string): { readonly kind: 'person' | 'distinct'; readonly ids: string[] } {
  const rows = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map(cells)
    .filter((row) => row.some((cell) => cell !== ''))
  const names = (rows[0] ?? []).map((cell) => cell.toLowerCase().replaceAll(/[ -]/g, '_'))
  const person = names.indexOf('person_id')
  const distinct = names.indexOf('distinct_id')
  const column = person >= 0 ? person : Math.max(distinct, 0)
  const body = person >= 0 || distinct >= 0 ? rows.slice(1) : rows
  const ids = new Set(body.map((row) => row[column] ?? '').filter((id) => id !== ''))
  return { kind: person >= 0 ? 'person' : 'distinct', ids: [...ids] }
}

/** One line; quotes may hold commas and doubled quotes. */
function cells(line: string): string[] {
  const found: string[] = []
  for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    found.push((match[1]?.replaceAll('""', '"') ?? match[2] ?? '').trim())
  return found
}
