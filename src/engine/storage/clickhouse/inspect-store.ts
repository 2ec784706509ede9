import type { StoreFindings } from '../recovery/store-findings.ts'
import { countRows } from './facts.ts'
import type { ProjectStore } from './project-store.ts'

/** The current state of a project on a server: an interrupted group is neither finished nor undone. */
export async function inspectStore(store: ProjectStore): Promise<StoreFindings> {
  const ofProject = (table: string) => `FROM ${table} WHERE project_id = ${store.project}`
  const [[known] = [0]] = await store.rows<[number]>(`SELECT count() ${ofProject('meta')}`)
  if (known === 0) return { state: 'missing' }
  const [[appliedSeq] = ['0']] = await store.rows<[string]>(`SELECT value ${ofProject('meta')} AND key = 'applied_seq'`)
  const warnings = await store.rows<[string, number]>(`SELECT kind, count ${ofProject('warnings')}`)
  return {
    state: 'sound',
    appliedSeq: Number(appliedSeq),
    ...(await countRows(store)),
    warnings: warnings.map(([kind, count]) => ({ kind, count })),
  }
}
