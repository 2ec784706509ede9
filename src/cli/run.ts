import { codeFrame } from '../errors/code-frame.ts'
import { InternalError, WaymarkError } from '../errors/errors.ts'
import { nearestSpellings } from '../lib/spelling.ts'
import { version } from '../lib/version.ts'
import { type Command, type Environment, type Output, readValues, usage, wrongUsage } from './command.ts'
import { doctor } from './doctor.ts'
import { verifyDomain } from './domains-verify.ts'
import { importFiles } from './import.ts'
import { approveImports } from './imports-approve.ts'
import { init } from './init.ts'
import { createKey } from './keys-create.ts'
import { listDomains, listKeys, listOrganizations, listProjects, listUsers } from './list.ts'
import { setOrganization } from './organizations-set.ts'
import { limitProject } from './projects-limit.ts'
import { defineProperty, listProperties } from './properties.ts'
import { query } from './query.ts'
import { serve } from './serve.ts'
import { trim } from './trim.ts'
import { confirmUser } from './users-confirm.ts'
import { createUser } from './users-create.ts'
import { linkUser } from './users-link.ts'

export const commands: readonly Command[] = [
  serve,
  init,
  importFiles,
  query,
  listProjects,
  limitProject,
  listUsers,
  createUser,
  linkUser,
  listOrganizations,
  setOrganization,
  listDomains,
  verifyDomain,
  confirmUser,
  listKeys,
  createKey,
  listProperties,
  defineProperty,
  approveImports,
  doctor,
  trim,
]

const listed = (some: readonly Command[]): string[] => some.map((command) => `  ${command.name.padEnd(14)} ${command.summary}`)

const help = () =>
  [
    'waymark <command> [options]',
    '',
    ...listed(commands),
    '',
    '`waymark help <command>` shows its options, `waymark --version` the version. Each option is also read from the environment, --data as WAYMARK_DATA.',
  ].join('\n')

/** Commands of two words that start with this one: `users`. */
const groupOf = (word: string | undefined): readonly Command[] => commands.filter(({ name }) => name.startsWith(`${word} `))

const asksForHelp = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h')

/** What `--help` shows for the arguments before it. */
const helpFor = (args: readonly string[]): string => {
  const group = groupOf(args[0])
  const [, word] = args
  if (group.length === 0 || (word !== undefined && !word.startsWith('-'))) return usage(find(args).command)
  return [
    `waymark ${args[0]} <command> [options]`,
    '',
    ...listed(group),
    '',
    `\`waymark help ${args[0]} <command>\` shows the options of one.`,
  ].join('\n')
}

/** The command that the arguments start with, and the remaining arguments. */
const find = (args: readonly string[]): { command: Command; rest: readonly string[] } => {
  for (const command of commands) {
    const words = command.name.split(' ')
    if (words.every((word, i) => args[i] === word)) return { command, rest: args.slice(words.length) }
  }
  const inGroup = groupOf(args[0]).map(({ name }) => `\`waymark ${name}\``)
  if (inGroup.length > 0)
    throw wrongUsage(`${args.join(' ')} is not a whole command. There ${inGroup.length > 1 ? 'are' : 'is'} ${inGroup.join(', ')}.`)
  const [near] = nearestSpellings(args[0]!, [...new Set(commands.map(({ name }) => name.split(' ')[0]!))])
  throw wrongUsage(
    `Unknown command: ${args.join(' ')}. ${near ? `Did you mean \`waymark ${near}\`? ` : ''}\`waymark help\` lists the commands.`,
  )
}

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const

/** The path in a query: `series[0].math`. */
const pathOf = ({ attr }: WaymarkError): string => {
  if (!attr?.includes('__')) return ''
  const [first, ...rest] = attr.split('__')
  return `${first}${rest.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('')}: `
}
/** The position in the statement, shown below the message. */
const frameOf = ({ source, span, position }: WaymarkError): string => (position ? `\n\n${codeFrame(source!, span!)}` : '')

/** Runs one command line and returns its exit code. */
export async function runCommand(args: readonly string[], env: Environment, output: Output): Promise<number> {
  try {
    const [first, ...others] = args
    if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
      output.out(others.length > 0 ? helpFor(others) : help())
      return exitCodes.done
    }
    if (first === '--version' || first === '-v' || first === 'version') {
      output.out(version)
      return exitCodes.done
    }
    if (asksForHelp(args)) {
      output.out(helpFor(args))
      return exitCodes.done
    }
    const { command, rest } = find(args)
    await command.run(readValues(command, rest, env), output)
    return exitCodes.done
  } catch (error) {
    if (error instanceof WaymarkError) output.err(`waymark: ${pathOf(error)}${error.message}${frameOf(error)}`)
    else
      output.err(`waymark: ${error instanceof InternalError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message)}`)
    return error instanceof WaymarkError && error.code === 'wrong-usage' ? exitCodes.wrongUsage : exitCodes.failed
  }
}
