import * as z from 'zod'
import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import type { EventsAnswer } from '../../../queries/events/index.ts'
import { type EventAnswer, eventSchema, type PositionAnswer, positionSchema } from '../../answers/events.ts'
import { valuesSchema } from '../../answers/property-definitions.ts'
import { failures } from '../errors.ts'
import { answerTo } from '../queries/ask.ts'
import { givenFilters, givenOrder } from '../queries/list-parameters.ts'
import { eventValues, valuesParameters } from '../queries/property-values.ts'
import { defaultPage, pageBounds } from '../requests/pages.ts'
import { repeatable } from '../requests/query-parameter.ts'
import { defineResource, type ProjectVisit } from '../resource.ts'
import { pageLink } from '../site.ts'

const columns = ['*', 'person']

interface Shown extends Omit<EventAnswer, 'id' | 'person'> {
  readonly person?: unknown
}
interface ShownPerson {
  readonly uuid?: string
  readonly created_at?: string
  readonly properties?: EventAnswer['properties']
}

const present = ([event, person]: readonly unknown[]): EventAnswer => {
  const { uuid, distinct_id, timestamp, properties, elements_chain, elements } = event as Shown
  const of = person as ShownPerson | null
  return {
    id: uuid,
    uuid,
    event: (event as Shown).event,
    distinct_id,
    timestamp,
    properties: properties ?? {},
    person:
      of?.uuid && of.created_at
        ? { id: of.uuid, distinct_ids: [distinct_id], properties: of.properties ?? {}, created_at: of.created_at }
        : null,
    elements: elements ?? [],
    elements_chain: elements_chain ?? '',
  }
}

/** Clocks of clients may be ahead. */
const aheadMs = 5_000

const orders = { timestamp: 'timestamp', '-timestamp': 'timestamp DESC' } as const

const dayMs = 86_400_000

/** The latest events are usually those of one day. If that day has a full page and more, older events cannot be on the page. */
async function firstFull(
  read: (after: string) => Promise<EventsAnswer>,
  after: string | null,
  before: string | null,
): Promise<EventsAnswer> {
  const end = before === null ? Number.NaN : Date.parse(before)
  if (!after && end > dayMs) {
    const recent = await read(new Date(end - dayMs).toISOString())
    if (recent.hasMore) return recent
  }
  return read(after || 'all')
}

const list = async (visit: ProjectVisit) => {
  const { query } = visit
  const { limit, offset } = pageBounds(query)
  const order = givenOrder(visit, orders, '-timestamp')
  const distinctId = query.get('distinct_id')
  const person = query.get('person_id')
  const event = query.get('event')
  const before = query.get('before') || new Date(visit.app.clock().getTime() + aheadMs).toISOString()
  if (person !== null && !isUuid(person)) throw failures.invalid('person_id must be the uuid of a person.', 'person_id')
  const asked = {
    kind: 'EventsQuery',
    select: columns,
    event: event || null,
    personId: person,
    before,
    properties: givenFilters(visit, 'event'),
    fixedProperties: distinctId ? [{ type: 'event_metadata', key: 'distinct_id', value: [distinctId], operator: 'exact' }] : [],
    orderBy: [orders[order]],
    limit,
    offset,
  }
  const read = async (after: string) => (await answerTo(visit, { ...asked, after })) as EventsAnswer
  const { results, hasMore } = await firstFull(read, query.get('after'), order === '-timestamp' ? before : null)
  const events = results.map(present)
  return {
    // Events that arrive meanwhile do not move those of the next page.
    next: hasMore ? pageLink(visit, { before, offset: offset + limit }) : null,
    results: events,
  }
}

export const events = defineResource({
  name: 'events',
  summary: 'The stored events, one by one ([records.md](records.md))',
  path: '/api/projects/:project_id/events',
  reach: 'project',
  object: 'query',
  limits: ['api', 'query'],
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'Events, the latest first',
      queryParameters: {
        event: 'Only events of this name',
        person_id: 'Only events of this person, by its uuid',
        distinct_id: 'Only events of this distinct id',
        after: 'Only later events: a time, or relative as in `-24h`',
        before: 'Only earlier events',
        properties: 'A JSON list of filters, as in queries',
        orderBy: 'A JSON list with `timestamp` or `-timestamp` (default)',
        limit: `Results per page (default ${defaultPage})`,
        offset: 'Index of the first result',
      },
      answer: z.object({ next: z.string().nullable(), results: z.array(eventSchema) }),
      handle: list,
    }),
    row({
      method: 'GET',
      path: 'values',
      name: 'values',
      summary: 'The values of a property, the most frequent first; elements of lists are counted separately',
      queryParameters: { ...valuesParameters, event_name: repeatable('Only of events of this name') },
      answer: valuesSchema,
      handle: eventValues,
    }),
    row({
      method: 'GET',
      path: 'position',
      name: 'position',
      summary:
        'A number that grows with every event that is acknowledged, and with every change of a person. While it is the same, so are the answers about all of the past',
      limits: ['api'],
      answer: positionSchema,
      handle: async ({ app, project }): Promise<PositionAnswer> => ({ position: await (await app.project(project.id)).end() }),
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One event by its uuid',
      answer: eventSchema,
      handle: async (visit) => {
        const id = visit.params.id ?? ''
        if (!isUuid(id)) throw failures.notFound()
        const { results } = (await answerTo(visit, {
          kind: 'EventsQuery',
          select: columns,
          after: 'all',
          before: '2299-12-31T00:00:00Z',
          where: [`toString(uuid) = '${id.toLowerCase()}'`],
          limit: 1,
        })) as EventsAnswer
        if (!results[0]) throw failures.notFound()
        return present(results[0])
      },
    }),
  ],
})
