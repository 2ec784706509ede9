import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Reading the sources costs more than most test files do, so files share a process, which keeps the modules. In a process of its own is what looks
// at the whole process (its memory, its processor time, its unhandled rejections), puts a module in another's place, or opens ClickHouse, of which there
// is one in a process.
const alone = [
  'test/docs/property-rule.test.ts',
  'test/engines.test.ts',
  'test/full-disk.test.ts',
  'test/functions/{actions,addresses,cases,drift,local-times,shaped-arguments}.test.ts',
  'test/golden/**',
  'test/http/query-stops.test.ts',
  'test/queries/funnels/cancel.test.ts',
  'test/queries/trends/generated.test.ts',
  'test/safety.test.ts',
  'test/storage/duckdb/{run,text-heap}.test.ts',
  'test/texts.test.ts',
]

// What takes long for what it finds: `npm run test:long`.
const long = [
  'test/bench/compare-revisions.test.ts',
  'test/cli/{import,query-out,stopping}.test.ts',
  'test/clients/{cookieless,page-script,scripts,snippets}.test.ts',
  'test/catalog/channels.test.ts',
  'test/core/{both-roads,kept-lists}.test.ts',
  'test/bench/product/contenders.test.ts',
  'test/crash/crash.test.ts',
  'test/damage/**',
  'test/definitions/cohort-refresh.test.ts',
  'test/differential/**',
  'test/functions/{aggregates,argument-types,dates,makes,whole-numbers,zones}.test.ts',
  'test/exports/{bigquery,faults,kills,many-kills,postgres,postgres-roads,redshift,rows,s3,server-kills,slow,snowflake,two-processes}.test.ts',
  'test/fuzz/**',
  'test/http/capture/abuse.test.ts',
  'test/http/{downloads-served,fuzz,kept-sizes,matrix,odd-fields,readiness,restart,rights}.test.ts',
  'test/ingestion/{amplification,cookieless.generated,historical,person-room,set-aside}.test.ts',
  'test/isolation/**',
  'test/leaving.test.ts',
  'test/limits/{full-store,mails}.test.ts',
  'test/memory/{attacks,closed-projects}.test.ts',
  'test/notifications/kills.test.ts',
  'test/odd-names.test.ts',
  'test/plan/{budgets,plan-memory}.test.ts',
  'test/projects/**',
  'test/plugins/{attacks,escapes,delivery/failing-destinations,delivery/kills}.test.ts',
  'test/queries/funnels/{compared.generated,correlation.generated,engines,memory}.test.ts',
  'test/queries/{paths,retention,stickiness}/generated.test.ts',
  'test/queries/shared-conditions.test.ts',
  'test/queries/trends/{displays.generated,relations}.test.ts',
  'test/queries/web/generated.test.ts',
  'test/small-memory.test.ts',
  'test/web/{accounts,addresses,alerts,charts,crowded,dashboards,data,every-page,field-errors,first-load,refused-actions,insight-behaviour,insight-kinds,insights,live,mounted,organization,pages,people,public-pages,pipelines,settings,sql,states,web-analytics}.test.ts',
]

// The same of files that may share a process.
const longTogether = [
  'test/catalog/surveys.test.ts',
  'test/cli/{closed-output,mistakes}.test.ts',
  'test/core/roads.test.ts',
  'test/exports/scheduler.test.ts',
  'test/functions/{bounds,captured-columns}.test.ts',
  'test/jobs/kills.test.ts',
  'test/http/{activity,notifications,odd-parameters,pages,query-streams}.test.ts',
  'test/plugins/delivery/{deliverer,destinations}.test.ts',
  'test/plugins/directory.test.ts',
  'test/public-plugins/**',
]

// Gigabytes of events, many minutes against servers, or clicks whose course depends on the time that pages take: `npm run test:largest`.
const largest = ['test/crash/transformations.test.ts', 'test/memory/{deleting,large-events,touched}.test.ts', 'test/web/clicks.test.ts']

// What is only about ClickHouse: `npm run test:clickhouse`.
const clickhouse = ['test/clickhouse/**']

const filesOf = (patterns: readonly string[]) => patterns.map((files) => files.replace('/**', '/**/*.test.ts'))
const inOwnProcesses = { isolate: true, globalSetup: ['test/clickhouse/notice.ts', 'test/harness/programs.ts'] }
const inOneProcess = { isolate: false, globalSetup: 'test/harness/programs.ts' }

export default defineConfig({
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
      { extends: true, test: { name: 'alone', include: filesOf(alone), ...inOwnProcesses } },
      { extends: true, test: { name: 'clickhouse', include: filesOf(clickhouse), exclude: ['**/node_modules/**'], ...inOwnProcesses } },
      { extends: true, test: { name: 'largest', include: filesOf(largest), ...inOwnProcesses } },
      { extends: true, test: { name: 'long', include: filesOf(long), ...inOwnProcesses } },
      { extends: true, test: { name: 'long-together', include: filesOf(longTogether), exclude: ['**/node_modules/**'], ...inOneProcess } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...alone, ...long, ...longTogether, ...largest, ...clickhouse],
          ...inOneProcess,
        },
      },
    ],
  },
})
