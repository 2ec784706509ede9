import { codeFrame } from '../../errors/code-frame.ts'
import { InternalError, WaymarkError } from '../../errors/errors.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { version } from '../../lib/version.ts'
import { type Environment, type ListedCommand, loadCommand, type Output, readValues, usage, wrongUsage } from './command.ts'
import { commands } from './commands.ts'

const listed = (some: readonly ListedCommand[]): string[] => some.map((command) => `  ${command.name.padEnd(14)} ${command.summary}`)

const help = () =>
  [
    'waymark <command> [options]',
    '',
    ...listed(commands),
    '',
    '`waymark help <command>` shows its options, `waymark --version` the version. Each option is also read from the environment, --data as WAYMARK_DATA.',
  ].join('\n')

/** Commands of two words that start with this one: `users`. */
const groupOf = (word: string | undefined): readonly ListedCommand[] => commands.filter(({ name }) => name.startsWith(`${word} `))

const asksForHelp = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h')

/** What `--help` shows for the arguments before it. */
const helpFor = async (args: readonly string[]): Promise<string> => {
  const group = groupOf(args[0])
  const [, word] = args
  if (group.length === 0 || (word !== undefined && !word.startsWith('-'))) return usage(await loadCommand(find(args).command))
  return [
    `waymark ${args[0]} <command> [options]`,
    '',
    ...listed(group),
    '',
    `\`waymark help ${args[0]} <command>\` shows the options of one.`,
  ].join('\n')
}

/** The command that the arguments start with, and the remaining arguments. */
const find = (args: readonly string[]): { command: ListedCommand; rest: readonly string[] } => {
  for (const command of commands) {
    const words = command.name.split(' ')
    if (words.every((word, i) => args[i] === word)) return { command, rest: args.slice(words.length) }
  }
  const inGroup = groupOf(args[0]).map(({ name }) => `\`waymark ${name}\``)
  if (inGroup.length > 0)
    throw wrongUsage(`${args.join(' ')} is not a complete command. Use ${inGroup.length > 1 ? 'one of ' : ''}${inGroup.join(', ')}.`)
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
      output.out(others.length > 0 ? await helpFor(others) : help())
      return exitCodes.done
    }
    if (first === '--version' || first === '-v' || first === 'version') {
      output.out(version)
      return exitCodes.done
    }
    if (asksForHelp(args)) {
      output.out(await helpFor(args))
      return exitCodes.done
    }
    const { command: found, rest } = find(args)
    const command = await loadCommand(found)
    await command.run(readValues(command, rest, env), output)
    return exitCodes.done
  } catch (error) {
    if (error instanceof WaymarkError) output.err(`waymark: ${pathOf(error)}${error.message}${frameOf(error)}`)
    else
      output.err(`waymark: ${error instanceof InternalError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message)}`)
    return error instanceof WaymarkError && error.code === 'wrong-usage' ? exitCodes.wrongUsage : exitCodes.failed
  }
}
