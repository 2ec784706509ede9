// `(A + 2 * B) / C`: letters are series in order, numbers are floats, and the computation never fails.

export type Formula =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'series'; readonly index: number }
  | { readonly kind: 'minus'; readonly of: Formula }
  | { readonly kind: 'binary'; readonly operator: Operator; readonly left: Formula; readonly right: Formula }

type Operator = '+' | '-' | '*' | '/' | '%' | '^'

// Power binds tightest and is right-associative, then comes the unary minus.
const precedence: Readonly<Record<Operator, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, '^': 4 }
const unary = 3

const apply: Readonly<Record<Operator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? 0 : a / b),
  '%': (a, b) => (b === 0 ? 0 : a % b),
  '^': (a, b) => a ** b,
}

interface Token {
  readonly text: string
  readonly at: number
}

/** Parses and computes one formula by recursive descent over its numbers, letters and operators. */
const maxTokens = 1_000

const shape = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|([A-Za-z]+)|(\*\*|[-+*/%^()]))/y

/** `seriesCount` letters are valid; after twenty-six series come AA, AB. */
export function parseFormula(text: string, seriesCount: number): { readonly formula: Formula } | { readonly problem: string } {
  const tokens: Token[] = []
  for (let at = 0; text.slice(at).trim() !== ''; ) {
    shape.lastIndex = at
    const match = shape.exec(text)
    if (!match) return { problem: `Invalid formula ${JSON.stringify(text)}: unexpected ${JSON.stringify(text.slice(at).trim())}.` }
    const token = match[1] ?? match[2] ?? (match[3] === '**' ? '^' : match[3]!)
    tokens.push({ text: token, at: shape.lastIndex - token.length })
    at = shape.lastIndex
    if (tokens.length > maxTokens) return { problem: `A formula can have at most ${maxTokens} numbers, letters and operators.` }
  }

  let next = 0
  let problem: string | null = null
  const fail = (message: string): Formula => {
    problem ??= message
    next = tokens.length
    return { kind: 'number', value: 0 }
  }
  const operand = (): Formula => {
    const token = tokens[next++]
    if (!token) return fail(`Invalid formula ${JSON.stringify(text)}: unexpected end.`)
    if (token.text === '-') return { kind: 'minus', of: expression(unary) }
    if (token.text === '+') return expression(unary)
    if (token.text === '(') {
      const inner = expression(0)
      if (tokens[next++]?.text !== ')') return fail(`Invalid formula ${JSON.stringify(text)}: missing closing parenthesis.`)
      return inner
    }
    if (/^[\d.]/.test(token.text)) return { kind: 'number', value: Number(token.text) }
    if (!/^[A-Za-z]/.test(token.text))
      return fail(`Invalid formula ${JSON.stringify(text)}: expected a series or a number, but found ${token.text}.`)
    const index = letterIndex(token.text)
    if (index >= seriesCount)
      return fail(
        `The formula ${JSON.stringify(text)} uses ${token.text.toUpperCase()}, but the query has ${seriesCount} series: ${seriesLetters(seriesCount)}.`,
      )
    return { kind: 'series', index }
  }
  const expression = (least: number): Formula => {
    let left = operand()
    for (let token = tokens[next]; token && token.text in precedence; token = tokens[next]) {
      const operator = token.text as Operator
      const binding = precedence[operator]
      if (binding < least) break
      next++
      left = { kind: 'binary', operator, left, right: expression(operator === '^' ? binding - 1 : binding + 1) }
    }
    return left
  }
  const formula = expression(0)
  const rest = tokens[next]
  if (!problem && rest) problem = `Invalid formula ${JSON.stringify(text)}: unexpected ${JSON.stringify(text.slice(rest.at).trim())}.`
  return problem ? { problem } : { formula }
}

const letterIndex = (letters: string): number =>
  [...letters.toUpperCase()].reduce((index, letter) => index * 26 + letter.charCodeAt(0) - 64, 0) - 1

function letterOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : letterOf(Math.floor(index / 26) - 1) + last
}

const seriesLetters = (count: number) => (count === 1 ? 'A' : `${letterOf(0)} to ${letterOf(count - 1)}`)

/** `series[i]` is the value of letter number i. A value that is not a number becomes 0. */
export function evaluate(formula: Formula, series: readonly number[]): number {
  const value = numberOf(formula, series)
  return Number.isFinite(value) ? value : 0
}

function numberOf(formula: Formula, series: readonly number[]): number {
  switch (formula.kind) {
    case 'number':
      return formula.value
    case 'series':
      return series[formula.index] ?? 0
    case 'minus':
      return -numberOf(formula.of, series)
    case 'binary':
      return apply[formula.operator](numberOf(formula.left, series), numberOf(formula.right, series))
  }
}
