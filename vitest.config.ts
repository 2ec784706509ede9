import { defineConfig } from 'vitest/config'

// Reading the sources costs more than most test files do, so files share a process, which keeps the modules. In a process of its own is what looks
// at the whole process (its memory, its processor time, its unhandled rejections) or opens ClickHouse, of which there is one in a process.
const alone = [
  'test/crash/**',
  'test/differential/**',
  'test/docs/property-rule.test.ts',
  'test/engines.test.ts',
  'test/full-disk.test.ts',
  'test/functions/{actions,aggregates,cases,dates,drift,local-times}.test.ts',
  'test/fuzz/**',
  'test/golden/**',
  'test/http/capture/abuse.test.ts',
  'test/http/fuzz.test.ts',
  'test/http/query-stops.test.ts',
  'test/ingestion/amplification.test.ts',
  'test/queries/funnels/{cancel,engines,memory}.test.ts',
  'test/queries/trends/generated.test.ts',
  'test/safety.test.ts',
  'test/storage/duckdb/run.test.ts',
  'test/texts.test.ts',
]

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // For what hangs. What is only slow because others have the cores goes on.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone.map((files) => files.replace('/**', '/**/*.test.ts')),
          isolate: true,
          globalSetup: ['test/clickhouse/notice.ts', 'test/harness/programs.ts'],
        },
      },
      { extends: true, test: { name: 'together', include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**', ...alone], isolate: false, globalSetup: 'test/harness/programs.ts' } },
    ],
  },
})
