import { spellingDistance } from '../../lib/text/spelling.ts'

// Finds choices by what is typed, and forgives: case, accents, marks between words, the order of words, a slip of the finger.

export interface Choice<T = unknown> {
  /** What is chosen. */
  readonly of: T
  /** The name as the API has it. */
  readonly name: string
  /** How people say it. */
  readonly label: string
  /** Choices of a group stand together, below its name. Empty: above all groups. */
  readonly group: string
  readonly count?: number | undefined
  /** The kind of its values, or another word about it. */
  readonly kind?: string | undefined
  readonly about?: string | undefined
  /** When it came last. */
  readonly seen?: string | undefined
}

export interface ChoiceGroup<T> {
  readonly title: string
  readonly choices: readonly Choice<T>[]
  /** How many more there are. */
  readonly more: number
}

/** Nobody reads more at once, and typing finds the others. */
export const mostOfGroup = 60

/** Only letters and digits, in lower case, with one space between words. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** A longer word was pasted, and comparing it letter by letter costs. */
const longestTyped = 24
const slipsOf = (word: string): number => (word.length < 4 || word.length > longestTyped ? 0 : word.length < 8 ? 1 : 2)
const isNear = (a: string, b: string, most: number): boolean => Math.abs(a.length - b.length) <= most && spellingDistance(a, b) <= most

/** A word that is being typed is the beginning of one, give or take. */
function isLike(typed: string, word: string): boolean {
  const most = slipsOf(typed)
  if (most === 0) return false
  for (let length = typed.length - most; length <= typed.length + most; length++)
    if (length <= word.length && isNear(typed, word.slice(0, length), most)) return true
  return isNear(typed, word, most)
}

/** From which rank on a choice is only alike. */
export const alike = 5

/** How well a choice is what was typed: 0 is best. Null: not at all. */
export function rankOf({ name, label, about = '' }: Choice, typed: string): number | null {
  const exact = typed.trim()
  if (name === exact) return 0
  const text = plain(typed)
  if (text === '') return name.toLowerCase().includes(exact.toLowerCase()) ? 4 : null
  const names = [plain(label), plain(name)]
  if (names.includes(text)) return 1
  if (names.some((one) => one.startsWith(text))) return 2
  const words = text.split(' ')
  const known = names.flatMap((one) => one.split(' '))
  if (words.every((word) => known.some((one) => one.startsWith(word)))) return 3
  const all = `${names.join(' ')} ${plain(about)}`
  if (words.every((word) => all.includes(word))) return 4
  return words.every((word) => all.includes(word) || known.some((one) => isLike(word, one))) ? alike : null
}

/** Groups in their order, or with the best find first; inside, the best first. What is only alike is left out where something is what was typed. */
export function found<T>(choices: readonly Choice<T>[], typed: string): readonly ChoiceGroup<T>[] {
  const isAll = typed.trim() === ''
  const ranked = choices.flatMap((choice) => {
    const rank = isAll ? 0 : rankOf(choice, typed)
    return rank === null ? [] : [{ choice, rank }]
  })
  const best = Math.min(...ranked.map(({ rank }) => rank))
  const shown = ranked.filter(({ rank }) => rank < alike || best >= alike).sort((a, b) => a.rank - b.rank)
  const groups = new Map<string, Choice<T>[]>()
  for (const { choice } of shown) {
    const group = groups.get(choice.group)
    if (group) group.push(choice)
    else groups.set(choice.group, [choice])
  }
  return [...groups].map(([title, all]) => ({
    title,
    choices: all.slice(0, mostOfGroup),
    more: Math.max(0, all.length - mostOfGroup),
  }))
}

/** The choice whose name or label is exactly what was typed. */
export function exactly<T>(choices: readonly Choice<T>[], typed: string): Choice<T> | undefined {
  const text = typed.trim()
  return choices.find(({ name }) => name === text) ?? choices.find(({ label }) => label.toLowerCase() === text.toLowerCase())
}
