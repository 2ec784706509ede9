import { type CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { version } from '../../lib/version.ts'
import type { ProjectFacts } from './answers.ts'
import { type Api, ApiRefusal } from './api.ts'
import { chartApp, chartAppUri } from './chart-app.ts'
import { dataNotice, recorded } from './recorded.ts'
import { annotationsOf, isWriting, type Tool, type ToolCall } from './tool.ts'
import { tools } from './tools/registry.ts'

const instructions = [
  'Waymark is product analytics: events that people did, with properties, and the people themselves.',
  'Call describe_data first: it has the exact names of events and properties. Then use the query_ tool that fits, or run_sql for what none of them answers.',
  'Numbers are exact. An answer says how many rows it has, and whether rows are missing. Dates are in the time zone of the project.',
  'To see who is behind a number, pass the query that a tool printed to list_people. Show people the picture or the address of the page.',
  dataNotice,
].join(' ')

export interface AgentAccess {
  readonly api: Api
  /** Whether the caller may use a tool: those that write are listed only then. */
  readonly may: (tool: Tool) => boolean
  /** What is no refusal of the API. */
  readonly onError?: (error: unknown) => void
}

const refused = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })

interface ProjectAnswer {
  readonly id: number
  readonly name: string
  readonly timezone: string
}

/** The tools of one caller, for one request or one connection. */
export function agentServer({ api, may, onError = () => undefined }: AgentAccess): McpServer {
  const server = new McpServer({ name: 'waymark', title: 'Waymark', version }, { instructions })
  for (const tool of tools.filter((one) => !isWriting(one) || may(one))) {
    const config = {
      title: tool.title,
      description: tool.description,
      inputSchema: tool.input,
      annotations: annotationsOf(tool),
      ...(tool.isChart && { _meta: { ui: { resourceUri: chartAppUri } } }),
    }
    server.registerTool(tool.name, config, async (asked, { mcpReq: { signal } }) => {
      const call: ToolCall = {
        api,
        signal,
        project: async (id): Promise<ProjectFacts> => api.call<ProjectAnswer>({ path: ['projects', id ?? '@current'] }, signal),
      }
      try {
        return await tool.run(asked, call)
      } catch (error) {
        if (error instanceof ApiRefusal) return refused(`Refused (${error.status}): ${recorded(error.message)}`)
        onError(error)
        return refused('The tool failed. The log of the server has the reason.')
      }
    })
  }
  server.registerResource('chart', chartAppUri, chartApp.metadata, async () => ({ contents: [{ uri: chartAppUri, ...chartApp.content }] }))
  return server
}
