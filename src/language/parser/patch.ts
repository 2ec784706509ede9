import { createTokenInstance, type IToken, type TokenType } from 'chevrotain'
import * as t from './tokens.ts'

// After an error the parser replaces the list item or clause around it by a plain name and continues. Any further error is independent of
// the first.

const openers: ReadonlySet<TokenType> = new Set([t.LParen, t.LBracket, t.LBrace, t.TemplateStart])
const closers: ReadonlySet<TokenType> = new Set([t.RParen, t.RBracket, t.RBrace, t.TemplateEnd])
const delimiters: ReadonlySet<TokenType> = new Set([
  ...[t.Comma, t.Semicolon, t.Select, t.Distinct, t.From, t.Prewhere, t.Where, t.Group, t.By, t.Having, t.Qualify, t.Order, t.Limit],
  ...[t.Union, t.Intersect, t.Except, t.Join, t.On, t.Using, t.With, t.When, t.Then, t.Else, t.End],
])

/** The next position on the same level, in one direction, at which an item ends. */
function edge(tokens: readonly IToken[], from: number, step: 1 | -1): number {
  const [down, up] = step === 1 ? [openers, closers] : [closers, openers]
  let depth = 0
  for (let i = from; i >= 0 && i < tokens.length; i += step) {
    const type = tokens[i]!.tokenType
    if (down.has(type)) depth++
    else if (up.has(type)) {
      if (depth === 0) return i
      depth--
    } else if (depth === 0 && delimiters.has(type)) return i
  }
  return step === 1 ? tokens.length : -1
}

/** The tokens with the item around `index` replaced by a name, and the index of that name. */
export function patched(tokens: readonly IToken[], index: number): { tokens: IToken[]; at: number } {
  const start = edge(tokens, index - 1, -1) + 1
  const end = edge(tokens, index, 1)
  const { startOffset } = tokens[Math.min(index, tokens.length - 1)]!
  const name = createTokenInstance(t.Identifier, '_', startOffset, startOffset, 0, 0, 0, 0)
  return { tokens: [...tokens.slice(0, start), name, ...tokens.slice(end)], at: start }
}
