import { type Converter, type ImportedEvent, problem, rowOf, textOf, timeOf } from '../record.ts'

/** Rows of PostHog's exports: JSON lines or Parquet of its batch exports, and events as listed by its API. */
export const posthog: Converter = (row) => {
  const event = textOf(row.event)
  const distinctId = textOf(row.distinct_id)
  const timestamp = timeOf(row.timestamp)
  if (event === null) return problem('no event name')
  if (distinctId === null) return problem('no distinct_id')
  if (timestamp === null) return problem(`unreadable timestamp: ${String(row.timestamp)}`)
  const properties = { ...(rowOf(row.properties) ?? {}) }
  const chain = textOf(row.elements_chain) ?? textOf(row.elements)
  if (chain !== null && properties.$elements_chain === undefined) properties.$elements_chain = chain
  // An export holds what an event set on its person both beside its properties and inside them.
  const set = rowOf(row.set) ?? rowOf(row.people_set)
  const setOnce = rowOf(row.set_once) ?? rowOf(row.people_set_once)
  const uuid = textOf(row.uuid)
  const converted: ImportedEvent = {
    event,
    distinct_id: distinctId,
    timestamp,
    properties,
    ...(uuid !== null && { uuid }),
    ...(set !== null && { $set: set }),
    ...(setOnce !== null && { $set_once: setOnce }),
  }
  return [converted]
}
