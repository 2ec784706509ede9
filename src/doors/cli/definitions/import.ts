import { resolve } from 'node:path'
import { WaymarkError } from '../../../errors/errors.ts'
import { type Command, type Values, wrongUsage } from '../command.ts'
import { ProjectApi, RecordRefused } from './api.ts'
import { compareInsights } from './compare.ts'
import { Made } from './made.ts'
import { moveRecords } from './move-records.ts'
import { moveNotes } from './notes.ts'
import { movePeople } from './people.ts'

const mostShown = 20
const usualState = 'waymark-definitions.json'

export const importDefinitions: Command = {
  options: {
    source: { value: 'URL', summary: 'the server that has the definitions: PostHog, or another Waymark' },
    'source-key': { value: 'KEY', summary: 'a personal API key there that may read the project' },
    'source-project': { value: 'ID', summary: 'the project there', default: '@current' },
    url: { value: 'URL', summary: 'the Waymark server that gets them' },
    key: { value: 'KEY', summary: 'a personal API key here that may write insights, dashboards, cohorts, actions, annotations and flags' },
    project: { value: 'ID', summary: 'the project here' },
    state: { value: 'FILE', summary: 'what was made of which record, for the next run', default: usualState },
    compare: { value: 'N', summary: 'ask so many insights on both sides afterwards, and show where their numbers differ' },
    people: { summary: 'also the persons, with their ids and properties: those without events, too' },
    'dry-run': { summary: 'write nothing; say what would be made' },
  },
  run: async (values, { out, err }) => {
    const source = new ProjectApi(address(values, 'source'), values.required('source-key'), values.required('source-project'))
    const target = new ProjectApi(address(values, 'url'), values.required('key'), values.required('project'))
    const compare = values.text('compare')
    if (compare !== undefined && !/^[1-9]\d{0,3}$/.test(compare))
      throw wrongUsage(`--compare must be a number of insights up to 9999, but got ${compare}.`)
    const isDry = values.isOn('dry-run')
    const [from, to] = [await placeOf(source, values.required('source')), await placeOf(target, values.required('url'))]
    const made = await Made.in(resolve(values.required('state')), from, to)
    // First: static cohorts name their members.
    const people = values.isOn('people') ? await asCommand(movePeople(source, isDry ? null : target, err)) : null
    const { kinds, leftOut: records } = await asCommand(moveRecords(source, isDry ? null : target, made, err))
    const leftOut = [...(people?.leftOut ?? []), ...records]
    const notes = await asCommand(moveNotes(source, isDry ? null : target))
    if (people) out(`people: ${people.made} ${isDry ? 'would be made' : 'made, or known already'}`)
    for (const { title, made: count, known } of kinds)
      out(`${title}: ${count} ${isDry ? 'would be made' : 'made'}${known > 0 ? `, ${known} made before` : ''}`)
    out(`descriptions of events and properties: ${notes.made}${isDry ? ' would be written' : ''}`)
    if (notes.unseen.length > 0) out(`described, but not seen here yet: ${listed(notes.unseen)}. Import their events, and run this again.`)
    if (leftOut.length > 0) out(`left out: ${leftOut.length}`)
    for (const { title, name, reason } of leftOut) out(`  ${title}, ${name}: ${reason}`)
    if (compare === undefined || isDry) return
    const compared = await asCommand(compareInsights(source, target, made, Number(compare)))
    for (const { name, numbers, different, note } of compared)
      out(
        `${name}: ${numbers === 0 && note ? note : different === 0 ? `${numbers} numbers, all equal` : `${different} of ${numbers} numbers differ (${note})`}`,
      )
    out(
      `compared: ${compared.length} insights, ${compared.filter(({ different, numbers }) => different === 0 && numbers > 0).length} with equal numbers`,
    )
  },
}

function address(values: Values, option: 'source' | 'url'): string {
  const url = values.required(option)
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw wrongUsage(`--${option} must be a URL such as https://eu.posthog.com, but got ${url}.`)
  return url
}

const listed = (names: readonly string[]): string =>
  names.length <= mostShown ? names.join(', ') : `${names.slice(0, mostShown).join(', ')} and ${names.length - mostShown} more`

/** The server and the project, for the file of what was made; also a first look whether both can be read. */
async function placeOf(api: ProjectApi, url: string): Promise<string> {
  const { id } = await asCommand(api.get(''))
  return `${new URL(url).host} project ${String(id)}`
}

/** What is refused and is about no record ends the command. */
const asCommand = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw error instanceof RecordRefused ? new WaymarkError('command-failed', { message: error.message }, { cause: error }) : error
  })
