import { WaymarkError } from '../../errors/errors.ts'
import { mustFit } from '../../limits/definitions.ts'
import { type ActionFields, actionFieldsSchema } from '../../queries/filters/action-definition.ts'
import { check, freeId, oneAtATime } from './records.ts'
import type { DefinitionStore } from './store.ts'

export const actionFieldNames = ['name', 'description', 'steps', 'tags', 'id'] as const

export interface StoredAction extends ActionFields {
  readonly id: number
  readonly created_by_id?: number | null
  readonly created_at: string
  readonly updated_at: string
}

export interface ActionService {
  list(): Promise<StoredAction[]>
  retrieve(id: number): Promise<StoredAction>
  /** Uses the caller's id if it is free. `author` is the id of a user. */
  create(fields: unknown, author?: number | null): Promise<StoredAction>
  update(id: number, fields: unknown): Promise<StoredAction>
  remove(id: number): Promise<void>
}

export function actionService(store: DefinitionStore): ActionService {
  const inTurn = oneAtATime(store.alone)
  const all = async (): Promise<Map<number, StoredAction>> =>
    new Map([...(await store.definitions('actions'))].map(([id, text]) => [id, { ...(JSON.parse(text) as StoredAction), id }]))
  const retrieve = async (id: number): Promise<StoredAction> => {
    const found = (await all()).get(id)
    if (!found) throw new WaymarkError('not-found', { what: 'action', id: String(id) })
    return found
  }
  const save = async (action: StoredAction): Promise<StoredAction> => {
    const { id, ...rest } = action
    const definition = JSON.stringify(rest)
    mustFit('actions', await store.definitions('actions'), id, definition)
    await store.write([{ table: 'actions', id, definition }])
    return action
  }
  const mustBeFree = async (name: string): Promise<void> => {
    const other = [...(await all()).values()].find((one) => one.name === name)
    if (!other) return
    const message = `This project already has an action with this name, ID ${other.id}.`
    throw new WaymarkError('invalid-value', { message, rule: 'unique', attr: 'name' })
  }
  return {
    list: async () => [...(await all()).values()].sort((a, b) => a.id - b.id),
    retrieve,
    create: (fields, author = null) =>
      inTurn(async () => {
        const checked = check(actionFieldsSchema, fields)
        await mustBeFree(checked.name)
        const now = store.clock().toISOString()
        const id = freeId(fields, new Set((await all()).keys()))
        return save({ ...checked, id, created_by_id: author, created_at: now, updated_at: now })
      }),
    update: (id, fields) =>
      inTurn(async () => {
        const known = await retrieve(id)
        const checked = check(actionFieldsSchema, { ...known, ...(fields as object) })
        if (checked.name !== known.name) await mustBeFree(checked.name)
        const { created_at, created_by_id } = known
        return save({ ...checked, id, created_by_id, created_at, updated_at: store.clock().toISOString() })
      }),
    remove: (id) =>
      inTurn(async () => {
        await retrieve(id)
        await store.write([{ table: 'actions', id, definition: null }])
      }),
  }
}
