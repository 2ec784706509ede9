import type { Field, Model } from '../ports.ts'

// The usual columns of each model, for exports without a query of their own.

const same = (...names: string[]): Field[] => names.map((name) => ({ expression: name, alias: name }))
const is = (alias: string, expression: string): Field => ({ alias, expression })
const json = (alias: string, expression: string): Field => ({ alias, expression, type: 'json' })

const marks = ['utm_source', 'utm_campaign', 'utm_medium', 'utm_term', 'utm_content', 'referring_domain', 'gclid', 'fbclid', 'gad_source']

/** `team_id` is replaced by the id of the project. */
export const usualColumns: Readonly<Record<Model, readonly Field[]>> = {
  events: [
    ...same('uuid', 'team_id', 'timestamp', 'created_at', 'event'),
    json('properties', 'properties'),
    ...same('distinct_id'),
    json('set', 'properties.$set'),
    json('set_once', 'properties.$set_once'),
    ...same('elements_chain'),
    json('person_properties', 'person.properties'),
    ...same('person_id'),
  ],
  persons: [
    ...same('team_id', 'distinct_id', 'person_id'),
    json('properties', 'person.properties'),
    ...same('person_distinct_id_version', 'person_version'),
    is('created_at', 'person.created_at'),
  ],
  sessions: [
    ...same('session_id', 'session_id_v7', 'team_id', 'distinct_id'),
    ...['start_timestamp', 'end_timestamp', 'urls', 'num_uniq_urls'].map((name) => is(name, `$${name}`)),
    ...['entry_current_url', 'entry_pathname', 'entry_hostname', 'end_current_url', 'end_pathname', 'end_hostname'].map((name) =>
      is(name, `$${name}`),
    ),
    ...marks.map((name) => is(`entry_${name}`, `$entry_${name}`)),
    ...['pageview_count', 'autocapture_count', 'screen_count', 'channel_type', 'session_duration'].map((name) => is(name, `$${name}`)),
    ...same('duration'),
    is('is_bounce', '$is_bounce'),
  ],
}

/** The columns that identify a row. */
export const identities: Readonly<Record<Model, readonly string[]>> = {
  events: ['uuid'],
  persons: ['distinct_id'],
  sessions: ['session_id'],
}
