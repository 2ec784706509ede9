import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
// Stands for the sources of one revision, as in ../compare/worker.ts.
import { open } from 'waymark-revision'
import { readQuestions } from './question-file.ts'

// Answers a person's own questions over a copy of their directory, one a line: `{ question, isFirst }` in, what it took out.

export interface Asked {
  readonly question: number
  /** The directory is opened again before. */
  readonly isFirst: boolean
}
export interface Answered {
  readonly ms: number
  readonly rows: number
  /** How each part of the answer was found. */
  readonly explain: readonly string[]
  readonly answer: string
}
export type Told = Answered | { readonly refused: string }

interface Note {
  readonly label?: string
  readonly road?: string
  readonly reason?: string
  readonly events?: number
  readonly days?: boolean
  readonly files?: { readonly pages: number; readonly bytes: number }
}

const [dataDir, file, id] = process.argv.slice(2) as [string, string, string | undefined]
const questions = readQuestions(file)
const opened = async () => {
  const waymark = await open({ dataDir })
  const projects: readonly { readonly id: number; readonly name: string }[] = await waymark.projects()
  const known = id === undefined ? projects : projects.filter((one) => String(one.id) === id || one.name === id)
  if (known.length !== 1)
    throw new Error(
      `Say which project with --project: ${projects.map(({ id: number, name }) => `${number} (${name})`).join(', ') || 'the directory has none'}`,
    )
  return { waymark, project: await waymark.project(known[0]!.id) }
}
let { waymark, project } = await opened()

const said = ({ label = '', road, reason, events, days, files }: Note): string => {
  const from = files ? `${files.pages} pages, ${files.bytes} bytes` : days ? 'days' : events === undefined ? '' : `${events} events`
  return [label, road, reason ?? from].filter(Boolean).join(': ')
}

async function told({ question, isFirst }: Asked): Promise<Told> {
  try {
    if (isFirst) {
      await waymark.close()
      ;({ waymark, project } = await opened())
    }
    const { query } = questions[question]!
    const start = performance.now()
    const { results, explain = [] } = (await project.query({ ...query, explain: true } as never, { refresh: 'force_blocking' })) as {
      readonly results: unknown
      readonly explain?: readonly Note[]
    }
    const ms = performance.now() - start
    const answer = createHash('sha256').update(JSON.stringify(results)).digest('hex')
    const roads = explain.filter(({ road, label }) => road !== undefined || label !== undefined).map(said)
    return { ms, rows: Array.isArray(results) ? results.length : 1, explain: [...new Set(roads)], answer }
  } catch (error) {
    return { refused: String((error as Error).message) }
  }
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await told(JSON.parse(line) as Asked)))
await waymark.close()
