import { createToken, type IMultiModeLexerDefinition, type IToken, Lexer, type TokenType } from 'chevrotain'
import type { ReservedWord } from '../ast/words.ts'

// Words are lexed as one kind of token and classified afterwards: one map lookup instead of a hundred patterns per word.

const category = (name: string, label: string, ...categories: TokenType[]) => createToken({ name, label, pattern: Lexer.NA, categories })

/** Allowed after a dot or after AS. */
export const Word = category('Word', 'a name')
/** Allowed as a column, table or function name without quotes. */
export const Name = category('Name', 'a name', Word)
/** Allowed as an alias without AS. */
export const AliasName = category('AliasName', 'an alias', Name)
export const BinaryOperator = category('BinaryOperator', 'an operator')
export const JoinWord = category('JoinWord', 'JOIN')

export const Identifier = createToken({ name: 'Identifier', label: 'a name', pattern: /[A-Za-z_$][\w$]*/, categories: [AliasName] })

/** The end of a quoted text that starts at `offset`, or -1. A doubled quote, or a backslash with any character, does not end it. */
function endOfQuoted(text: string, offset: number): number {
  const quote = text.charCodeAt(offset)
  for (let i = offset + 1; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 92) i++
    else if (char === quote) {
      if (text.charCodeAt(i + 1) !== quote) return i + 1
      i++
    }
  }
  return -1
}

/** The lexer stores only where a token starts. */
export const endOf = (token: IToken): number => token.startOffset + token.image.length

const matched = (image: string): [string] => [image]
const quoted = (quotes: string) => (text: string, offset: number) => {
  const end = quotes.includes(text.charAt(offset)) ? endOfQuoted(text, offset) : -1
  return end < 0 ? null : matched(text.slice(offset, end))
}

export const QuotedIdentifier = createToken({
  name: 'QuotedIdentifier',
  label: 'a name',
  pattern: { exec: quoted('"`') },
  start_chars_hint: ['"', '`'],
  line_breaks: true,
  categories: [AliasName],
})
export const StringLiteral = createToken({
  name: 'StringLiteral',
  label: 'a string',
  pattern: { exec: quoted("'") },
  start_chars_hint: ["'"],
  line_breaks: true,
})
/** Consumes the rest of the text, so that a missing quote is one error. */
export const Unterminated = createToken({
  name: 'Unterminated',
  pattern: /(?:['"`]|\/\*)[\s\S]*/,
  start_chars_hint: ["'", '"', '`', '/'],
  line_breaks: true,
})

const numberPattern = /0[xX][0-9a-fA-F]+(?![\w$])|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$])/y
const digitsPattern = /\d+(?![\w$])/y
const isDigit = (code: number) => code >= 48 && code <= 57

/** `a.1.2` reads two elements, `[1].1` one, and `x + .1` is a fraction: the token directly before a dot decides. */
function matchNumber(text: string, offset: number, tokens: readonly IToken[]): [string] | null {
  const previous = tokens.at(-1)
  const isTouching = previous !== undefined && endOf(previous) === offset
  if (text.charCodeAt(offset) === 46) {
    if (!isDigit(text.charCodeAt(offset + 1))) return null
    if (isTouching && isOperandEnd(previous.tokenType)) return null
  }
  const isElement = isTouching && (previous.tokenType === Dot || previous.tokenType === QuestionDot)
  const pattern = isElement ? digitsPattern : numberPattern
  pattern.lastIndex = offset
  const found = pattern.exec(text)
  return found ? matched(found[0]) : null
}
export const NumberLiteral = createToken({
  name: 'NumberLiteral',
  label: 'a number',
  pattern: { exec: matchNumber },
  start_chars_hint: [...'0123456789.'],
  line_breaks: false,
})

const symbol = (name: string, text: string, ...categories: TokenType[]) =>
  createToken({ name, label: `"${text}"`, pattern: text, categories })
const operator = (name: string, text: string) => symbol(name, text, BinaryOperator)

export const Dot = symbol('Dot', '.')
export const QuestionDot = createToken({ name: 'QuestionDot', label: '"?."', pattern: '?.' })
export const Question = symbol('Question', '?')
export const Comma = symbol('Comma', ',')
export const Semicolon = symbol('Semicolon', ';')
export const LParen = symbol('LParen', '(')
export const RParen = symbol('RParen', ')')
export const LBracket = symbol('LBracket', '[')
export const RBracket = symbol('RBracket', ']')
// Braces nest, so that the brace that closes an expression inside a template string can be identified.
export const LBrace = createToken({ name: 'LBrace', label: '"{"', pattern: '{', push_mode: 'main' })
export const RBrace = createToken({ name: 'RBrace', label: '"}"', pattern: '}', pop_mode: true })
export const DoubleColon = symbol('DoubleColon', '::')
export const ColonEquals = symbol('ColonEquals', ':=')
export const Colon = symbol('Colon', ':')
export const Arrow = symbol('Arrow', '->')
export const Hash = symbol('Hash', '#')

export const Plus = operator('Plus', '+')
export const Minus = operator('Minus', '-')
export const Asterisk = operator('Asterisk', '*')
export const Slash = operator('Slash', '/')
export const Percent = operator('Percent', '%')
export const Concat = operator('Concat', '||')
export const Nullish = operator('Nullish', '??')
export const Equals = operator('Equals', '=')
export const DoubleEquals = operator('DoubleEquals', '==')
export const NotEquals = operator('NotEquals', '!=')
export const Differs = operator('Differs', '<>')
export const LessOrEquals = operator('LessOrEquals', '<=')
export const Less = operator('Less', '<')
export const GreaterOrEquals = operator('GreaterOrEquals', '>=')
export const Greater = operator('Greater', '>')
export const Tilde = operator('Tilde', '~')
export const EqualsTilde = operator('EqualsTilde', '=~')
export const NotTilde = operator('NotTilde', '!~')
export const TildeStar = operator('TildeStar', '~*')
export const EqualsTildeStar = operator('EqualsTildeStar', '=~*')
export const NotTildeStar = operator('NotTildeStar', '!~*')

export const TemplateStart = createToken({ name: 'TemplateStart', label: 'a template string', pattern: /[fF]'/, push_mode: 'template' })
export const TemplateText = createToken({ name: 'TemplateText', pattern: /[^'\\{]+|''|\\[\s\S]/, line_breaks: true })
export const TemplateEnd = createToken({ name: 'TemplateEnd', label: '"\'"', pattern: "'", pop_mode: true })

const WhiteSpace = createToken({ name: 'WhiteSpace', pattern: /[\s\uFEFF]+/, group: Lexer.SKIPPED, line_breaks: true })
const LineComment = createToken({ name: 'LineComment', pattern: /(?:--|\/\/)[^\r\n]*/, group: Lexer.SKIPPED })
const BlockComment = createToken({
  name: 'BlockComment',
  pattern: {
    exec: (text: string, offset: number) => {
      if (!text.startsWith('/*', offset)) return null
      const end = text.indexOf('*/', offset + 2)
      return end < 0 ? null : matched(text.slice(offset, end + 2))
    },
  },
  start_chars_hint: ['/'],
  line_breaks: true,
  group: Lexer.SKIPPED,
})

/** What a keyword may be where it is not used as one: nothing (`reserved`, `operator`), a name (`name`, `join`), or also an alias without AS (`alias`). */
const keywordClasses = { reserved: [Word], operator: [Word, BinaryOperator], name: [Name], join: [Name, JoinWord], alias: [AliasName] }

const byText = new Map<string, TokenType>()
function keyword(text: ReservedWord, use: 'reserved' | 'operator'): TokenType
function keyword<T extends string>(text: T extends ReservedWord ? never : T, use: 'name' | 'join' | 'alias'): TokenType
function keyword(text: string, use: keyof typeof keywordClasses): TokenType {
  const token = createToken({ name: text.toUpperCase(), label: text.toUpperCase(), pattern: Lexer.NA, categories: keywordClasses[use] })
  byText.set(text, token)
  return token
}

export const As = keyword('as', 'reserved')
export const Case = keyword('case', 'reserved')
export const When = keyword('when', 'reserved')
export const Then = keyword('then', 'reserved')
export const Else = keyword('else', 'reserved')
export const End = keyword('end', 'reserved')
export const Null = keyword('null', 'reserved')
export const True = keyword('true', 'reserved')
export const False = keyword('false', 'reserved')
export const Select = keyword('select', 'reserved')
export const From = keyword('from', 'reserved')
export const Where = keyword('where', 'reserved')
export const Prewhere = keyword('prewhere', 'reserved')
export const Group = keyword('group', 'reserved')
export const Order = keyword('order', 'reserved')
export const Having = keyword('having', 'reserved')
export const Qualify = keyword('qualify', 'reserved')
export const Limit = keyword('limit', 'reserved')
export const Union = keyword('union', 'reserved')
export const Intersect = keyword('intersect', 'reserved')
export const Except = keyword('except', 'reserved')
export const Join = keyword('join', 'reserved')
export const On = keyword('on', 'reserved')
export const Using = keyword('using', 'reserved')
export const With = keyword('with', 'reserved')
export const Distinct = keyword('distinct', 'reserved')
export const Is = keyword('is', 'reserved')
export const In = keyword('in', 'reserved')
export const Not = keyword('not', 'reserved')
export const Between = keyword('between', 'reserved')
export const And = keyword('and', 'operator')
export const Or = keyword('or', 'operator')
export const Like = keyword('like', 'operator')
export const Ilike = keyword('ilike', 'operator')

export const Left = keyword('left', 'join')
export const Right = keyword('right', 'join')
export const Inner = keyword('inner', 'join')
export const Outer = keyword('outer', 'join')
export const Full = keyword('full', 'join')
export const Cross = keyword('cross', 'join')
export const Lateral = keyword('lateral', 'alias')
export const Natural = keyword('natural', 'join')
export const Positional = keyword('positional', 'join')
export const Any = keyword('any', 'join')
export const All = keyword('all', 'join')
export const Asof = keyword('asof', 'join')
export const Semi = keyword('semi', 'join')
export const Anti = keyword('anti', 'join')

export const ArrayWord = keyword('array', 'name')
export const Final = keyword('final', 'name')
export const Sample = keyword('sample', 'name')
export const Pivot = keyword('pivot', 'name')
export const Unpivot = keyword('unpivot', 'name')
export const Window = keyword('window', 'name')
export const Settings = keyword('settings', 'name')
export const Offset = keyword('offset', 'name')
export const Asc = keyword('asc', 'name')
export const Desc = keyword('desc', 'name')
export const Nulls = keyword('nulls', 'name')
export const Collate = keyword('collate', 'name')
export const PercentWord = keyword('percent', 'name')
export const For = keyword('for', 'name')
export const Over = keyword('over', 'name')
export const Filter = keyword('filter', 'name')
export const Within = keyword('within', 'name')
export const Ignore = keyword('ignore', 'name')
export const Respect = keyword('respect', 'name')
export const Exclude = keyword('exclude', 'name')
export const Replace = keyword('replace', 'name')
export const By = keyword('by', 'name')
export const Rows = keyword('rows', 'name')
export const Range = keyword('range', 'name')
export const Preceding = keyword('preceding', 'name')
export const Following = keyword('following', 'name')

export const Interval = keyword('interval', 'alias')
export const DateWord = keyword('date', 'alias')
export const Timestamp = keyword('timestamp', 'alias')
export const Extract = keyword('extract', 'alias')
export const Substring = keyword('substring', 'alias')
export const Trim = keyword('trim', 'alias')
export const Both = keyword('both', 'alias')
export const Leading = keyword('leading', 'alias')
export const Trailing = keyword('trailing', 'alias')
export const Cast = keyword('cast', 'alias')
export const TryCast = keyword('try_cast', 'alias')
export const ColumnsWord = keyword('columns', 'alias')
export const LambdaWord = keyword('lambda', 'alias')
export const Inf = keyword('inf', 'alias')
export const NaNWord = keyword('nan', 'alias')
export const Cohort = keyword('cohort', 'alias')
export const Recursive = keyword('recursive', 'alias')
export const Materialized = keyword('materialized', 'alias')
export const Key = keyword('key', 'alias')
export const NameWord = keyword('name', 'alias')
export const Top = keyword('top', 'alias')
export const Ties = keyword('ties', 'alias')
export const Totals = keyword('totals', 'alias')
export const Cube = keyword('cube', 'alias')
export const Rollup = keyword('rollup', 'alias')
export const Grouping = keyword('grouping', 'alias')
export const Sets = keyword('sets', 'alias')
export const First = keyword('first', 'alias')
export const Last = keyword('last', 'alias')
export const Fill = keyword('fill', 'alias')
export const To = keyword('to', 'alias')
export const Step = keyword('step', 'alias')
export const Partition = keyword('partition', 'alias')
export const Unbounded = keyword('unbounded', 'alias')
export const Current = keyword('current', 'alias')
export const Row = keyword('row', 'alias')
export const Values = keyword('values', 'alias')
export const Include = keyword('include', 'alias')
export const Describe = keyword('describe', 'alias')
export const Show = keyword('show', 'alias')
export const Table = keyword('table', 'alias')
export const Tables = keyword('tables', 'alias')

const operandEnds: ReadonlySet<TokenType> = new Set([Identifier, QuotedIdentifier, StringLiteral, RParen, RBracket, RBrace, TemplateEnd])
/** Words are still `Identifier` while the lexer runs. A number does not end a value: `1.5` is one token, and in `a.1.2` a dot follows an element. */
const isOperandEnd = (type: TokenType) => operandEnds.has(type) || type === NumberLiteral

const main = [
  WhiteSpace,
  LineComment,
  BlockComment,
  TemplateStart,
  Identifier,
  NumberLiteral,
  StringLiteral,
  QuotedIdentifier,
  Unterminated,
  ...[Comma, QuestionDot, Dot, LParen, RParen, LBracket, RBracket, LBrace, RBrace],
  ...[EqualsTildeStar, EqualsTilde, DoubleEquals, Equals, NotTildeStar, NotTilde, NotEquals, TildeStar, Tilde],
  ...[LessOrEquals, Differs, Less, GreaterOrEquals, Greater],
  ...[Nullish, Question, DoubleColon, ColonEquals, Colon, Arrow, Plus, Minus, Asterisk, Slash, Percent, Concat, Hash, Semicolon],
]
const definition: IMultiModeLexerDefinition = {
  modes: { main, template: [TemplateText, TemplateEnd, LBrace] },
  defaultMode: 'main',
}

/** The tokens of the parser. */
export const vocabulary: TokenType[] = [
  ...new Set([...main, TemplateText, TemplateEnd, Word, Name, AliasName, BinaryOperator, JoinWord, ...byText.values()]),
]
const lexer = new Lexer(definition, { positionTracking: 'onlyOffset' })

export interface LexProblem {
  readonly message: string
  readonly start: number
  readonly end: number
}

/**
 * Tokens, with keywords distinguished from names. The payload of an opening parenthesis is the token after its closing one, which
 * tells whether it opens lambda parameters, a query or an expression.
 */
export function tokenize(text: string): { tokens: IToken[]; problems: LexProblem[] } {
  const { tokens, errors } = lexer.tokenize(text)
  const problems: LexProblem[] = []
  const open: IToken[] = []
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    if (token.tokenType === Identifier) {
      const type = byText.get(token.image) ?? byText.get(token.image.toLowerCase())
      if (type) {
        token.tokenType = type
        token.tokenTypeIdx = type.tokenTypeIdx!
      }
    } else if (token.tokenType === LParen) open.push(token)
    else if (token.tokenType === RParen) {
      const opener = open.pop()
      if (opener) opener.payload = tokens[i + 1]
    } else if (token.tokenType === Unterminated) {
      const what = token.image[0] === "'" ? 'this string' : token.image[0] === '/' ? 'this comment' : 'this quoted name'
      problems.push({ message: `${what} is not closed`, start: token.startOffset, end: text.length })
    }
  }
  if (problems.length === 0)
    for (const error of errors) {
      const found = text.slice(error.offset, error.offset + error.length)
      const message = found === '}' || found === '' ? 'found "}" without "{"' : `unexpected ${JSON.stringify(found.slice(0, 20))}`
      problems.push({ message, start: error.offset, end: error.offset + Math.max(1, error.length) })
    }
  return { tokens, problems }
}
