import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineConfig } from 'vitest/config'

// Where a test runs is written in its name:
//   *.test.ts          with others in one process, which keeps the modules: reading the sources costs more than most test files do
//   *.alone.test.ts    in a process of its own: looks at the whole process, puts a module in another's place, or opens ClickHouse, of which a process has one
//   *.long.test.ts     takes long for what it finds: `npm run test:long`
//   *.largest.test.ts  gigabytes of events, many minutes, or clicks whose course depends on the time that pages take: `npm run test:largest`
//   test/clickhouse/   only about ClickHouse: `npm run test:clickhouse`
const places = ['alone', 'long', 'largest']
const dependencies = '**/node_modules/**'
const aboutClickHouse = 'test/clickhouse/**'

const setupFiles = ['test/harness/seed.ts']
const inOwnProcesses = { isolate: true, globalSetup: ['test/clickhouse/notice.ts', 'test/harness/programs.ts'], setupFiles }
const inOneProcess = { isolate: false, globalSetup: 'test/harness/programs.ts', setupFiles }

/** Where test/harness/programs.ts builds the programs of threads and of the engine's process: a start from TypeScript takes ten times as long. */
const beside = JSON.stringify(pathToFileURL(join(import.meta.dirname, '.tmp/tests/tests.mjs')).href)
const startsPrograms = /src\/(?:core\/folds\/thread-pool|engine\/isolation\/(?:answer-thread|engine-child)|service\/plugins\/sandbox\/sandbox)\.ts$/

export default defineConfig({
  plugins: [
    {
      name: 'built-programs',
      transform: (code, id) => (startsPrograms.test(id) ? code.replaceAll('import.meta.url', beside) : undefined),
    },
  ],
  // What imports the package by its name gets the sources.
  resolve: { alias: { waymark: join(import.meta.dirname, 'src/index.ts') } },
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // For what hangs. What is only slow because others have the cores goes on.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      ...places.map((name) => ({
        extends: true as const,
        test: { name, include: [`test/**/*.${name}.test.ts`], exclude: [dependencies, aboutClickHouse], ...inOwnProcesses },
      })),
      { extends: true, test: { name: 'clickhouse', include: [`${aboutClickHouse}/*.test.ts`], exclude: [dependencies], ...inOwnProcesses } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [dependencies, aboutClickHouse, ...places.map((name) => `test/**/*.${name}.test.ts`)],
          ...inOneProcess,
        },
      },
    ],
  },
})
