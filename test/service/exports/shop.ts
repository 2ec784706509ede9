import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import type { Destination, ExportRun, Outside } from '../../../src/service/exports/destinations/destination.ts'
import type { Model, RowSelection } from '../../../src/service/exports/ports.ts'
import { type RunProgress, runExport } from '../../../src/service/exports/running/run.ts'
import { identities, usualColumns } from '../../../src/service/exports/writing/columns.ts'

// Real rows on their way to a destination, one run at a time.

export const outside: Outside = {
  clock: () => new Date(),
  lookup: (_, options, callback) => callback(null, options.all ? ([{ address: '127.0.0.1', family: 4 }] as never) : '127.0.0.1', 4),
  mustBeAllowed: () => undefined,
  localFolder: null,
}

export interface Shop {
  readonly waymark: LocalWaymark
  readonly project: LocalProject
  readonly folder: string
  ingest(count: number): Promise<void>
  /** The rows of a model that arrived since the run before, or those of `of`. */
  run(
    destination: Destination,
    config: unknown,
    about?: Partial<ExportRun> & { readonly signal?: AbortSignal; readonly after?: number },
  ): Promise<RunProgress>
  close(): Promise<void>
}

export const openShop = async (options: Partial<OpenOptions> = {}): Promise<Shop> => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-shop-'))
  const waymark = await open({ dataDir: join(folder, 'data'), ...options })
  const project = await waymark.createProject({ name: 'Shop' })
  let sent = 0
  return {
    waymark,
    project,
    folder,
    async ingest(count) {
      for (const end = sent + count; sent < end; ) {
        const batch = Array.from({ length: Math.min(1000, end - sent) }, (_, i) => eventOf(sent + i))
        sent += batch.length
        await project.ingest({ batch })
      }
    },
    async run(destination, given, { signal = new AbortController().signal, after = 0, ...about } = {}) {
      const config = destination.config.parse(given)
      const model: Model = about.model ?? 'events'
      const fields = destination.columns?.(config, model) ?? usualColumns[model]
      const to = await project.exportRows.positionAt(new Date(Date.now() + 3_600_000), 0)
      const selection: RowSelection = {
        model,
        fields,
        where: null,
        tableAlias: null,
        filters: null,
        include: [],
        exclude: [],
        range: { by: 'arrival', after, to },
      }
      const columns = await project.exportRows.columns(selection)
      const run: ExportRun = {
        id: 'run-1',
        export_id: 'export-1',
        project_id: project.id,
        model,
        attempt: 1,
        key: 'export-1-1',
        start: new Date('2026-01-05T10:00:00Z'),
        end: new Date('2026-01-05T11:00:00Z'),
        isBackfill: false,
        columns,
        identity: identities[model],
        ...about,
      }
      const stagingFolder = join(folder, 'data', 'staging', run.id)
      return runExport({
        rows: project.exportRows,
        selection,
        destination,
        config,
        run,
        outside,
        stagingFolder,
        signal,
        onProgress: async () => undefined,
      })
    },
    async close() {
      await waymark.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Texts that a format could read wrong. */
const notes = [
  'plain',
  '"quoted", \'single\'',
  'back\\slash \\N \\.',
  'tab\tline\nreturn\r',
  'ünï — 漢字 😀',
  '',
  '\\',
  '{"a":1}',
  ',',
  'NULL',
]

export const eventOf = (n: number) => ({
  event: n % 3 === 0 ? 'purchase' : 'pageview',
  distinct_id: `user ${n % 7}`,
  uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  timestamp: new Date(Date.UTC(2026, 0, 5, 10) + n * 1000).toISOString(),
  properties: { price: n, note: notes[n % notes.length], $set: { plan: 'pro' }, $ip: '10.0.0.1' },
})
