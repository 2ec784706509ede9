import { parseArgs } from 'node:util'
import { WaymarkError } from '../../errors/errors.ts'
import { likelyName } from '../../lib/text/likely-name.ts'

export interface Option {
  /** The placeholder of the value in the help, such as `DIR`; without it the option is a switch. */
  readonly value?: string
  readonly summary: string
  readonly default?: string
  /** The option may be repeated: `all` has its values. */
  readonly isRepeatable?: true
}
export type Environment = Readonly<Record<string, string | undefined>>
export interface Values {
  readonly env: Environment
  /** The last value given, else the environment variable, else the default. */
  text(name: string): string | undefined
  required(name: string): string
  /** Of an option that may be repeated; in the environment values are separated by white space. */
  all(name: string): readonly string[]
  isOn(name: string): boolean
  readonly rest: readonly string[]
}
export interface Output {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}
export interface Command {
  /** The arguments after the options, for the help. */
  readonly takes?: string
  readonly options: Readonly<Record<string, Option>>
  run(values: Values, output: Output): Promise<void>
}

/** A row of the table of commands. What a command runs is loaded when it is called: help needs none of it. */
export interface ListedCommand {
  /** The words of the command, such as `users create`. */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}
export interface NamedCommand extends Command, Pick<ListedCommand, 'name' | 'summary'> {}

export const loadCommand = async ({ name, summary, load }: ListedCommand): Promise<NamedCommand> => ({ name, summary, ...(await load()) })

/** Values that are separated by commas. */
export const listOf = (text: string | undefined): readonly string[] => text?.split(',').map((one) => one.trim()) ?? []

export const wrongUsage = (message: string) => new WaymarkError('wrong-usage', { message })

/** `--data-dir` is `WAYMARK_DATA_DIR` in the environment. */
const variable = (name: string) => `WAYMARK_${name.toUpperCase().replaceAll('-', '_')}`

export const readValues = (command: NamedCommand, args: readonly string[], env: Environment): Values => {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, option]) => [
      name,
      { type: option.value === undefined ? ('boolean' as const) : ('string' as const), multiple: option.isRepeatable === true },
    ]),
  )
  let parsed: { values: Record<string, string | boolean | string[] | undefined>; positionals: string[] }
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: command.takes !== undefined, strict: true }) as typeof parsed
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. To specify')[0]! : String(error)
    const known = [...Object.keys(command.options), 'help']
    const strange = /^Unknown option '--?([^']*)'/.exec(message)?.[1]
    const likely = strange === undefined ? undefined : likelyName(strange, known)
    const hint = likely === undefined ? '' : ` Did you mean --${likely}?`
    throw wrongUsage(`${message}${message.endsWith('.') ? '' : '.'}${hint} \`waymark help ${command.name}\` lists the options.`)
  }
  const text = (name: string) => {
    const given = parsed.values[name] ?? env[variable(name)]
    return typeof given === 'string' && given !== '' ? given : command.options[name]?.default
  }
  return {
    env,
    text,
    required: (name) => {
      const value = text(name)
      if (value === undefined)
        throw wrongUsage(`--${name} ${command.options[name]?.value ?? ''} is required. \`waymark help ${command.name}\` shows more.`)
      return value
    },
    all: (name) => {
      const given = parsed.values[name]
      if (Array.isArray(given)) return given
      const isOption = command.options[name] !== undefined
      return isOption ? (env[variable(name)] ?? '').split(/\s+/).filter((one) => one !== '') : []
    },
    isOn: (name) => parsed.values[name] === true || /^(1|true|yes|on)$/i.test(env[variable(name)] ?? ''),
    rest: parsed.positionals,
  }
}

export const usage = (command: NamedCommand): string => {
  const rows = Object.entries(command.options).map(([name, option]) => {
    const left = `  --${name}${option.value === undefined ? '' : ` ${option.value}`}`
    return `${left.padEnd(26)} ${option.summary}${option.default === undefined ? '' : ` (${option.default})`}`
  })
  const takes = command.takes === undefined ? '' : ` ${command.takes}`
  return [`waymark ${command.name}${takes} [options]`, '', command.summary, '', ...rows].join('\n')
}
