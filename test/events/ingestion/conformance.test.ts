import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type IngestionCase, runIngestionCase } from './cases.ts'

// Runs every `ingestion_*` conformance case beside the repository, without special treatment of any case.

const folder = resolve(import.meta.dirname, '../../../../shared/conformance/api')
const files = existsSync(folder) ? readdirSync(folder).filter((file) => /^ingestion_.*\.json$/.test(file)) : []

for (const file of files) {
  const { suite, cases } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { suite: string; cases: IngestionCase[] }
  describe(suite, () => {
    test.each(cases)('$name', async (one) => {
      expect(await runIngestionCase(one)).toEqual([])
    })
  })
}

test.skipIf(files.length > 0)('the conformance cases are not beside this repository', () => {})
