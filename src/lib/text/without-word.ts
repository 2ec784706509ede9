const isWordCharacter = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}_]/u.test(character)

/** Shorter words are found inside of others by chance. */
const longWord = 8

/** Replaces a word: a long one everywhere, a short one where it is not a part of another. */
export function withoutWord(text: string, word: string, replacement: string): string {
  if (word === '') return text
  let result = ''
  let from = 0
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, from)) {
    const end = at + word.length
    const goesOn = (beside: string | undefined, edge: string | undefined) => isWordCharacter(beside) && isWordCharacter(edge)
    const isPart = word.length < longWord && (goesOn(text[at - 1], word[0]) || goesOn(text[end], word.at(-1)))
    result += text.slice(from, at) + (isPart ? word : replacement)
    from = end
  }
  return result + text.slice(from)
}
