import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Api } from './api.ts'
import { agentServer } from './server.ts'
import { isWriting, type Tool } from './tool.ts'

export interface StdioAccess {
  readonly api: Api
  /** Whether tools that write are listed. */
  readonly writes: boolean
  readonly onError: (error: unknown) => void
}

/** Speaks with one agent over the standard input and output of this process, until the agent closes them. */
export async function serveAgent({ api, writes, onError }: StdioAccess): Promise<void> {
  const may = (tool: Tool) => writes || !isWriting(tool)
  const closed = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve))
  const handle = serveStdio(() => agentServer({ api, may, onError }), { onerror: onError })
  await closed
  await handle.close()
}
