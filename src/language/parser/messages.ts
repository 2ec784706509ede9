import type { IParserErrorMessageProvider, IToken, TokenType } from 'chevrotain'
import { EOF, tokenLabel } from 'chevrotain'
import { Semicolon } from './tokens.ts'

// Error messages for statements that cannot be parsed: what was expected, and what came.

const shown = (token: IToken): string =>
  token.tokenType === EOF ? 'the end' : token.image.length > 30 ? `${token.image.slice(0, 30)}…` : token.image

const expected = (what: string, token: IToken, previous?: IToken): string => {
  if (previous?.tokenType === Semicolon) return `only one statement is allowed, found ${shown(token)} after it`
  return `expected ${what}${between}${shown(token)}`
}
const between = ' but found '

/** The expected part of a message that was made here. */
export function expectedIn(message: string): string | undefined {
  const [start, end] = ['expected '.length, message.indexOf(between)]
  return message.startsWith('expected ') && end > start ? message.slice(start, end) : undefined
}

const label = (type: TokenType): string => (type === EOF ? 'the end of the statement' : tokenLabel(type))

/** The first tokens of the alternatives, at most four of them. */
function oneOf(paths: readonly (readonly TokenType[])[]): string {
  const labels = [...new Set(paths.map((path) => (path[0] ? label(path[0]) : '')).filter(Boolean))]
  return labels.length > 4 ? `${labels.slice(0, 4).join(', ')} …` : labels.join(' or ')
}

export const wordingOf: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected: type, actual, previous }) => expected(label(type), actual, previous),
  buildNotAllInputParsedMessage: ({ firstRedundant }) => expected('the end of the statement', firstRedundant),
  buildNoViableAltMessage: ({ expectedPathsPerAlt, actual, previous, customUserDescription }) =>
    expected(customUserDescription ?? oneOf(expectedPathsPerAlt.flat()), actual[0]!, previous),
  buildEarlyExitMessage: ({ expectedIterationPaths, actual, previous, customUserDescription }) =>
    expected(customUserDescription ?? oneOf(expectedIterationPaths), actual[0]!, previous),
}
