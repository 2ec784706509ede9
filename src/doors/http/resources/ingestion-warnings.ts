import { type WarningSummary, warningKinds } from '../../../events/ingestion/warnings.ts'
import { type WarningAnswer, warningSchema } from '../../answers/ingestion-warnings.ts'
import { pageSchema } from '../../answers/pages.ts'
import { holds } from '../access/access.ts'
import { time } from '../present.ts'
import { defineResource } from '../resource.ts'

const momentOf = (micros: number) => time(new Date(micros / 1000))

const present = ({ type, count, lastSeen, samples }: WarningSummary): WarningAnswer => ({
  type,
  effect: warningKinds[type].effect,
  description: warningKinds[type].means,
  count,
  last_seen_at: momentOf(lastSeen),
  samples: samples.map((sample) => ({ timestamp: momentOf(sample.time), details: { ...sample.details } })).reverse(),
})

export const ingestionWarnings = defineResource({
  name: 'ingestion_warnings',
  summary: 'Events of a project that were altered or left out although their batches were accepted',
  path: '/api/projects/:project_id/ingestion_warnings',
  reach: 'project',
  object: 'project',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The kinds of warnings with their counts, latest first; they cover everything acknowledged before the request',
      answer: pageSchema(warningSchema),
      isPaged: true,
      handle: async (visit) => {
        const data = await visit.app.project(visit.project.id)
        const found = [...(await data.warnings())].sort((a, b) => b.lastSeen - a.lastSeen || a.type.localeCompare(b.type))
        return found.map(present).map((warning) => (holds(visit, 'query:read') ? warning : { ...warning, samples: null }))
      },
    }),
  ],
})
