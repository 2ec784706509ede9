import { scanPrinter } from '../physical-tables.ts'

// Columns that only a project's DuckDB store has: event names as numbers, and DuckDB's functions.

const attribute = (name: string) => `'(?::|")${name}="(.*?)"'`

export const scanQuery = scanPrinter({
  table: (name, project) => `"p${project}".main.${name}`,
  whenRecorded: (value) => `CASE WHEN t.has_record THEN ${value} END`,
  events: {
    event: { sql: 'n.name', needs: ['name'] },
    $session_id_uuid: 'TRY_CAST(t.session_id AS UUID)',
    person_mode: "CASE t.person_mode WHEN 0 THEN 'full' WHEN 1 THEN 'propertyless' ELSE 'force_upgrade' END",
    elements_chain_href: `regexp_extract(t.elements_chain, ${attribute('href')}, 1)`,
    elements_chain_texts: `list_distinct(regexp_extract_all(t.elements_chain, ${attribute('text')}, 1))`,
    elements_chain_ids: `list_distinct(regexp_extract_all(t.elements_chain, ${attribute('attr_id')}, 1))`,
    elements_chain_elements:
      "list_distinct(regexp_extract_all(t.elements_chain, '(?:^|;)(a|button|form|input|select|textarea|label)(?:\\.|$|:)', 1))",
    '@event_id': 't.event_id',
    '@micros': 'epoch_us(t.timestamp)',
  },
  hash: 'md5_number_lower(t.distinct_id)',
})
