import { random } from '../../../bench/random.ts'
import { type OpenOptions, open, type Project, type Query, type QueryError, type Waymark } from '../../../src/index.ts'

// Two projects: one with the events of three customers, one with those of one of them. What a viewer of the first sees is what the second one answers.

export const now = new Date('2026-03-20T12:00:00Z')
const day = 86_400_000
export const names = ['$pageview', 'signup', 'order'] as const
export const customers = ['acme', 'bolt', 'corp'] as const
export const filter = [{ type: 'event', key: 'customer', operator: 'exact', value: 'acme' }] as const

interface Sent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly uuid: string
  readonly properties: Record<string, unknown>
}

/** Some people are of two customers. What `bolt` has cannot be converted to numbers, and it alone has the event `bolt only`. */
function eventsOf(seed: number, count: number): Sent[] {
  const draw = random(seed)
  return Array.from({ length: count }, (_, i) => {
    const customer = customers[Math.floor(draw() * customers.length)]!
    const person = draw() < 0.2 ? 'shared' : customer
    const event = names[Math.floor(draw() * names.length)]!
    const id = `${person}-${Math.floor(draw() * 12)}`
    return {
      event: customer === 'bolt' && i % 5 === 0 ? 'bolt only' : event,
      distinct_id: id,
      timestamp: new Date(now.getTime() - draw() * 30 * day).toISOString(),
      uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      properties: {
        customer,
        plan: ['free', 'pro'][Math.floor(draw() * 2)],
        amount: Math.floor(draw() * 1000),
        secret: customer === 'bolt' ? `bolt-secret-${i}` : String(Math.floor(draw() * 9)),
        $session_id: `${customer}-${Math.floor(i / 4)}`,
        $current_url: `https://${customer}.example.com/${Math.floor(draw() * 5)}`,
        $set: { email: `${person}@example.com`, plan: 'pro', code: id },
      },
    }
  })
}

export interface Customers {
  readonly directory: Waymark
  readonly all: Project
  readonly own: Project
}

export async function openCustomers(count = 2000, engine: Pick<OpenOptions, 'engine'> = {}): Promise<Customers> {
  const directory = await open({ dataDir: ':memory:', clock: () => now, ...engine })
  const all = await directory.createProject({ name: 'all', timezone: 'UTC' })
  const own = await directory.createProject({ name: 'acme', timezone: 'UTC' })
  const events = eventsOf(7, count)
  await all.ingest({ batch: events })
  await own.ingest({ batch: events.filter(({ properties }) => properties.customer === 'acme') })
  for (const project of [all, own])
    await project.createCohort({
      name: 'everybody',
      filters: { properties: { type: 'OR', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } },
    } as never)
  return { directory, all, own }
}

export const asViewer = (source: unknown, more: object = {}): Query =>
  ({ kind: 'ViewerQuery', filter, source, ...more }) as unknown as Query

const ofTheStore: ReadonlySet<string> = new Set(['created_at', 'person_id', 'cache_key'])
/** Sums of the same numbers in another order differ in their last digits. */
const plain = (key: string, value: unknown) =>
  ofTheStore.has(key) ? undefined : typeof value === 'number' ? Number(value.toPrecision(9)) : value

export function comparable(answer: object): unknown {
  const { results, columns } = answer as { results?: unknown; columns?: unknown }
  const same = JSON.parse(JSON.stringify(results ?? null, plain)) as unknown
  // The rows of a statement without ORDER BY have no order.
  return { results: Array.isArray(columns) && Array.isArray(same) ? same.map((row) => JSON.stringify(row)).toSorted() : same, columns }
}

export async function asked(
  project: Project,
  query: Query,
): Promise<{ readonly answer: unknown } | { readonly code: string; readonly message: string }> {
  try {
    return { answer: comparable(await project.query(query)) }
  } catch (error) {
    const { code, message } = error as QueryError
    return { code, message }
  }
}
