import type * as z from 'zod'
import { chartAnswer, type ProjectFacts } from '../answers.ts'
import { ApiRefusal } from '../api.ts'
import { propertiesOf, type Query, questions } from '../questions.ts'
import { defineTool, type Tool, type ToolCall } from '../tool.ts'

/** The answer of the query endpoint. */
export const ask = ({ api, signal }: ToolCall, project: number, query: Query) =>
  api.call<Readonly<Record<string, unknown>>>({ method: 'POST', path: ['projects', project, 'query'], body: { query } }, signal)

/** Where the pages show a question that is not saved. */
const pageOfQuery = ({ api }: Pick<ToolCall, 'api'>, { id }: ProjectFacts, query: Query): string | null =>
  /^Web/.test(query.kind) ? api.page(id, 'web') : api.page(id, 'insights/new', { q: JSON.stringify(query) })

interface Definitions {
  readonly results: readonly { readonly name: string }[]
}

/** Names that no event or person has: the number of such a property is a plain zero. */
async function unknownProperties(call: ToolCall, project: number, query: Query): Promise<string[]> {
  const named = propertiesOf(query)
  const hints = await Promise.all(
    (['event', 'person'] as const).map(async (type) => {
      const names = [...named[type]].filter((name) => !name.startsWith('$'))
      if (names.length === 0) return []
      const path = ['projects', project, 'property_definitions'] as const
      const { results } = await call.api.call<Definitions>(
        { path, query: { type, properties: JSON.stringify(names), limit: 500 } },
        call.signal,
      )
      const known = new Set(results.map(({ name }) => name))
      const what = type === 'event' ? 'event' : 'person'
      return names
        .filter((name) => !known.has(name))
        .map((name) => `Warning: no ${what} has the property ${JSON.stringify(name)}. describe_data lists what there is.`)
    }),
  ).catch((error: unknown) => {
    // A key may ask and not read definitions.
    if (error instanceof ApiRefusal) return []
    throw error
  })
  return hints.flat()
}

const toolOf = ([name, { title, description, input, queryOf }]: [string, (typeof questions)[keyof typeof questions]]): Tool =>
  defineTool({
    name,
    title,
    description: `${description} Answers with a table, a picture and the page.`,
    input: input as z.ZodObject,
    scope: 'query:read',
    isChart: true,
    run: async (asked, call) => {
      const project = await call.project(asked.project as number | undefined)
      const query = (queryOf as (asked: unknown) => Query)(asked)
      const [answer, hints] = await Promise.all([ask(call, project.id, query), unknownProperties(call, project.id, query)])
      return chartAnswer(project, { query, answer, title, hints }, pageOfQuery(call, project, query))
    },
  })

export const questionTools: readonly Tool[] = Object.entries(questions).map(toolOf)
