import { scanPrinter } from '../physical-tables.ts'

// Each table is restricted to the project before it is joined, so that no condition of an outer join can add rows of others or lose rows
// of the project.

const attribute = (name: string) => `'(?::|")${name}="(.*?)"'`

export const scanQuery = scanPrinter({
  // The star leaves out what the server computes.
  table: (name, project, slots) => `(SELECT ${['*', ...slots].join(', ')} FROM ${name} WHERE project_id = ${Number(project)})`,
  whenRecorded: (value) => `if(t.has_record, ${value}, NULL)`,
  events: {
    event: 'CAST(t.event AS String)',
    $session_id_uuid: 'toUUIDOrNull(t.session_id)',
    person_mode: "multiIf(t.person_mode = 0, 'full', t.person_mode = 1, 'propertyless', 'force_upgrade')",
    elements_chain_href: `extract(t.elements_chain, ${attribute('href')})`,
    elements_chain_texts: `arrayDistinct(extractAll(t.elements_chain, ${attribute('text')}))`,
    elements_chain_ids: `arrayDistinct(extractAll(t.elements_chain, ${attribute('attr_id')}))`,
    elements_chain_elements:
      "arrayDistinct(extractAll(t.elements_chain, '(?:^|;)(a|button|form|input|select|textarea|label)(?:\\\\.|$|:)'))",
    '@micros': 'toUnixTimestamp64Micro(t.timestamp)',
  },
  hash: 'reinterpretAsUInt64(substring(MD5(t.distinct_id), 9, 8))',
})
