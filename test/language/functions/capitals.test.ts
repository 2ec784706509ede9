import { expect, test } from 'vitest'
import { capitalBeyondAscii } from '../../../src/language/functions/cells/text-bytes.ts'
import { openTestProject } from '../../harness/duckdb.ts'

test('every character beyond ASCII that the engine writes in lower case is known as a capital', async () => {
  const project = await openTestProject()
  try {
    const rows = await project.instance.rows<{ missed: string | null; count: number }>(
      `SELECT string_agg(to_hex(i), ' ') FILTER (NOT regexp_matches(chr(i), '${capitalBeyondAscii}')) AS missed, count(*)::INTEGER AS count
      FROM (FROM range(128, 55296) UNION ALL FROM range(57344, 1114112)) r(code), (SELECT code::INTEGER AS i) WHERE lower(chr(i)) <> chr(i)`,
    )
    expect(rows[0]!.count).toBeGreaterThan(1000)
    expect(rows[0]!.missed).toBeNull()
  } finally {
    await project.close()
  }
})
