import { type ChildProcess, spawn } from 'node:child_process'
import { runCommand } from '../../../src/doors/cli/run.ts'
import { program } from '../../harness/programs.ts'

// The commands as a shell calls them: in a process of their own, or in this one where nothing has to be killed.

export interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export const start = (args: readonly string[], env: Record<string, string> = {}, user: { uid?: number; gid?: number } = {}): ChildProcess =>
  spawn(process.execPath, [program('cli'), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })

/** How it ended, and all it said. */
export const finish = (child: ChildProcess): Promise<Result> =>
  new Promise((resolve) => {
    let [out, err] = ['', '']
    child.stdout!.on('data', (chunk) => {
      out += chunk
    })
    child.stderr!.on('data', (chunk) => {
      err += chunk
    })
    child.on('close', (code) => resolve({ code, out, err }))
  })

export const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (chunk) => {
      text += chunk
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code} before its first line`)))
  })

export const run = async (args: readonly string[], env: Record<string, string> = {}): Promise<Result> => {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCommand(args, env, { out: (line) => out.push(line), err: (line) => err.push(line) })
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  return { code, out: text(out), err: text(err) }
}
