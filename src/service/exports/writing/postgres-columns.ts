import type { Field } from '../ports.ts'

const is = (alias: string, expression: string): Field => ({ alias, expression })
const json = (alias: string, expression: string): Field => ({ alias, expression, type: 'json' })

/** The usual columns of events in PostgreSQL and Redshift. */
export const postgresFields: readonly Field[] = [
  is('uuid', 'uuid'),
  is('event', 'event'),
  json('properties', 'properties'),
  is('elements', 'elements_chain'),
  json('set', 'properties.$set'),
  json('set_once', 'properties.$set_once'),
  is('distinct_id', 'distinct_id'),
  is('team_id', 'team_id'),
  is('ip', 'properties.$ip'),
  is('site_url', 'properties.$current_url'),
  is('timestamp', 'timestamp'),
]
