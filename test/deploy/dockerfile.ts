import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

// A Dockerfile without a daemon: its instructions, what .dockerignore leaves of the checkout, and its steps, run in folders in place of layers.

export const root = resolve(import.meta.dirname, '../..')
export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

export interface Instruction {
  readonly name: string
  readonly text: string
}
export interface Stage {
  readonly name: string
  readonly base: string
  readonly steps: readonly Instruction[]
}

export function instructionsOf(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line))
  const joined = lines.join('\n').replace(/\\\n\s*/g, '')
  return joined
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      if (!name) throw new Error(`not an instruction: ${line}`)
      return { name, text: rest!.trim() }
    })
}

/** With the values of ARG before the first FROM. */
export function stagesOf(text: string): Stage[] {
  const args: Record<string, string> = {}
  const stages: { name: string; base: string; steps: Instruction[] }[] = []
  for (const one of instructionsOf(text)) {
    if (one.name === 'FROM') {
      const [, base, name] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(one.text)!
      stages.push({ name: name ?? '', base: base!.replace(/\$\{(\w+)\}/g, (_, arg: string) => args[arg]!), steps: [] })
    } else if (stages.length > 0) stages.at(-1)!.steps.push(one)
    else if (one.name === 'ARG') args[one.text.split('=')[0]!] = one.text.slice(one.text.indexOf('=') + 1)
    else throw new Error(`${one.name} before FROM`)
  }
  return stages
}

export const last = (steps: readonly Instruction[], name: string): string => steps.findLast((one) => one.name === name)!.text

/** Of HEALTHCHECK, ENTRYPOINT and CMD. */
export const wordsOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[]

export const variablesOf = (steps: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(steps.filter(({ name }) => name === 'ENV').map(({ text }) => text.split('=') as [string, string]))

const isLike = (path: string, pattern: string) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`).test(path)

/** The last rule that names a path or a folder above it decides. */
export function isSent(path: string, rules: readonly string[]): boolean {
  const parts = path.split('/')
  const above = parts.map((_, i) => parts.slice(0, i + 1).join('/'))
  const decides = rules.findLast((rule) => above.some((one) => isLike(one, rule.replace(/^!/, ''))))
  return decides === undefined || decides.startsWith('!')
}

export const ignoreRules = (): string[] =>
  textOf('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

/** Copies what a builder would send. */
export function sendContext(to: string): void {
  const rules = ignoreRules()
  for (const name of readdirSync(root))
    if (isSent(name, rules))
      cpSync(join(root, name), join(to, name), { recursive: true, filter: (path) => isSent(path.slice(root.length + 1), rules) })
}

/** Runs the steps of a stage with `folder` as its root; absolute paths of its commands are in there. */
export function runStage({ steps }: Stage, folder: string, folderOf: (stage: string) => string, env: Record<string, string>): void {
  let at = '/'
  const inside = (path: string) => join(folder, path.startsWith('/') ? path : join(at, path))
  for (const { name, text } of steps) {
    if (name === 'WORKDIR') {
      at = text
      mkdirSync(inside(at), { recursive: true })
    } else if (name === 'COPY') {
      const words = text.split(/\s+/)
      const stage = words[0]!.startsWith('--from=') ? words.shift()!.slice('--from='.length) : ''
      const to = words.pop()!
      for (const from of words) {
        const source = join(folderOf(stage), from)
        // The contents of a folder, not the folder; a file into a folder that ends with a slash.
        const target = to.endsWith('/') ? join(inside(to), statSync(source).isDirectory() ? '' : from) : inside(to)
        mkdirSync(dirname(target), { recursive: true })
        cpSync(source, target, { recursive: true, verbatimSymlinks: true })
      }
    } else if (name === 'RUN') {
      const command = text.replace(/(?<=^|\s)\/(?=[a-z])/g, `${folder}/`)
      execFileSync('/bin/sh', ['-c', command], {
        cwd: inside(at),
        env: { ...env, ...variablesOf(steps) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    }
  }
}
