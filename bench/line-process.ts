import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program that answers one line of JSON with another, after a first line that says that it is ready. */
export interface LineProcess<Asked, Told> {
  ask(asked: Asked): Promise<Told>
  stop(): Promise<void>
}

export interface Program {
  /** For the message when it ends too early. */
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Options of Node. */
  readonly execArgv?: readonly string[]
}

export async function startLineProcess<Asked, Told>({ name, file, args, cwd, execArgv = [] }: Program): Promise<LineProcess<Asked, Told>> {
  const child = spawn(process.execPath, [...execArgv, file, ...args], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => undefined) // of a process that has ended: the missing answer says so
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (!done) return value
    const [code, signal] = await ended
    throw new Error(`The process of ${name} ended before it answered (${signal ?? `exit code ${code}`})`)
  }
  await next()
  return {
    async ask(asked) {
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      return JSON.parse(await next()) as Told
    },
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
