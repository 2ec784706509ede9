// Passwords that guessers try first, as words and as habits. Written for Waymark from what is generally known of frequent passwords: their words, what people put around a word,
// rows of the keyboard, repetitions and dates. A password of these is refused whatever its length.

/** Words that are passwords by themselves, or with digits and signs around them. */
const words = new Set(
  `password passwort passw pass passwd pwd motdepasse contrasena senha parola haslo heslo wachtwoord kennwort losenord salasana sifre parol
  welcome willkommen bienvenue bienvenido hello hallo salut bonjour ciao hola letmein letmeinnow openup opensesame sesame secret geheim secreto topsecret
  admin administrator adminadmin root rootroot superuser sysadmin system manager master supervisor guest user username login signin access
  test tester testing testtest demo example sample default changeme changeit changepassword temp temporary newpassword mypassword passphrase nopassword thepassword
  iloveyou iloveu loveyou lovely loveme mylove love lover amor teamo jetaime ichliebedich sweetheart honey darling babygirl babyboy baby angel angels princess prince
  queen king princesa sunshine sunflower flower flowers rainbow butterfly starlight moonlight moon star stars sky heaven summer winter spring autumn fall
  sommer herbst fruehling ete hiver verano january february march april may june july august september october november december monday tuesday
  wednesday thursday friday saturday sunday holiday christmas birthday happy smile cookie cookies chocolate cheese banana orange apple strawberry cherry
  football baseball basketball hockey soccer tennis golf volleyball skateboard swimming dancer dancing chelsea liverpool arsenal barcelona realmadrid juventus
  manchester manutd everton rangers celtic yankees lakers cowboys steelers eagles packers redsox dodgers bulls tigers lions ronaldo messi jordan
  monkey dragon tiger lion eagle falcon wolf wolfpack shark dolphin dolphins panther cougar jaguar bear kitten kitty pussycat puppy doggy horse
  horses pony rabbit bunny snoopy garfield tweety chicken turtle spider scorpion phoenix unicorn dinosaur elephant penguin
  superman batman spiderman ironman wolverine hulk thor avengers starwars skywalker vader yoda jedi startrek spock matrix terminator rambo rocky
  pokemon pikachu charizard naruto goku sasuke mario zelda sonic minecraft fortnite roblox counterstrike warcraft starcraft diablo halo callofduty
  playstation nintendo xbox gamer gaming player winner killer hunter warrior ninja samurai pirate knight wizard merlin gandalf frodo hobbit harrypotter
  hogwarts dumbledore hermione disney mickey minnie donald simba nemo barbie hellokitty spongebob
  michael jennifer jessica ashley daniel joshua matthew andrew anthony christopher robert thomas charlie george william james david joseph richard
  charles nicholas alexander alexandra benjamin samuel jonathan patrick kevin brian steven justin brandon tyler austin jacob ethan dylan amanda melissa
  michelle nicole stephanie elizabeth heather rebecca samantha victoria natalie natasha vanessa veronica andrea sabrina patricia sandra barbara maria
  marina martina monica isabella sophia olivia hannah emily chloe jasmine daniela gabriela valentina carlos alejandro fernando eduardo francisco antonio
  roberto ricardo sebastian maximilian alessandro francesco giovanni giuseppe nathalie caroline charlotte margaret katherine maggie ginger buster
  buddy bailey shadow lucky max tigger pepper peanut harley sammy rusty oscar
  mustang corvette camaro ferrari porsche mercedes toyota honda yamaha suzuki kawasaki ducati harleydavidson
  london paris berlin munich muenchen hamburg vienna zurich madrid lisbon rome milano istanbul moscow tokyo newyork chicago boston dallas houston austin denver phoenix seattle
  america canada england france germany deutschland schweiz austria espana italia brasil mexico india china russia ukraine polska turkey
  computer internet laptop keyboard monitor network server database oracle cisco linux ubuntu debian windows microsoft google facebook twitter instagram
  linkedin youtube amazon netflix apple iphone samsung android nokia adobe photoshop dropbox github gitlab docker kubernetes postgres mysql mongodb
  analytics posthog dashboard metrics insight insights
  freedom liberty peace power money dollar rich million business company office work freelance success victory champion legend hero
  jesus christ jesuschrist god godislove blessed faith hope trinity genesis grace church
  whatever nothing something anything everything nobody somebody forever friend friends family mother father mommy daddy brother sister forget
  fuckyou fuckme fuckoff asshole bullshit bitch pussy sexy hotstuff hottie sex porn
  music rock rockstar metallica nirvana slipknot eminem tupac beatles greenday linkinpark guitar guitarist piano drummer
  blue red green black white purple yellow silver golden diamond crystal platinum thunder lightning storm hurricane tornado fire blaze ice snow snowball
  trustno trustnoone iamgod incorrect invalid correcthorsebatterystaple abc abcd abcdef qwerty qwertz azerty asdf asdfgh zxcv zxcvbn qazwsx qweasd qweasdzxc aaaaaa`.split(
    /\s+/,
  ),
)

/** Rows and columns of keyboards, the alphabet, digits: a password that is a part of one, either way. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  '1234567890qwertyuiopasdfghjklzxcvbnm',
  'qwertyuiop[]asdfghjklzxcvbnm,./',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  'zaq12wsxcde34rfvbgt56yhnmju78ik',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1b2c3d4e5f6g7h8i9j0',
  'abc123def456ghi789',
  '1a2b3c4d5e6f7g8h9i0j',
  '147258369',
  '789456123',
  '!@#$%^&*()_+',
  '!"§$%&/()=?',
]
const isPartOf = (row: string, text: string) => row.includes(text) || row.includes([...text].reverse().join(''))
const isRow = (text: string): boolean => rows.some((row) => isPartOf(row, text))
/** Whether it is a few parts of rows one after another: `qwer1234`. */
function isOfRows(text: string): boolean {
  let parts = 0
  for (let at = 0; at < text.length; parts++) {
    let length = 0
    while (at + length < text.length && isRow(text.slice(at, at + length + 1))) length++
    if (length < 3 || parts === mostParts) return false
    at += length
  }
  return true
}
const mostParts = 4

/** `p@ssw0rd` is read as `password`. */
const meant: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '€': 'e',
}
const read = (text: string): string => [...text].map((letter) => meant[letter] ?? letter).join('')

const isLetter = (letter: string | undefined) => letter !== undefined && letter.toLowerCase() !== letter.toUpperCase()
/** Without the digits and signs at its ends. */
function core(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && !isLetter(text[start])) start++
  while (end > start && !isLetter(text[end - 1])) end--
  return text.slice(start, end)
}
/** Digits and signs that people put around a word: a year, a row, a few. More are a password by themselves. */
const mostAround = 8

/** The shortest text that repeated gives this one. */
function unitOf(text: string): string {
  for (let length = 1; length <= text.length / 2; length++)
    if (text.length % length === 0 && text.slice(0, length).repeat(text.length / length) === text) return text.slice(0, length)
  return text
}

const isDate = (text: string): boolean => {
  if (!/^\d{8}$/.test(text)) return false
  const [first, second, third] = [text.slice(0, 2), text.slice(2, 4), text.slice(4)].map(Number) as [number, number, number]
  const isYear = (year: number) => year >= 1900 && year <= 2099
  const isDay = (a: number, b: number) => a >= 1 && b >= 1 && ((a <= 31 && b <= 12) || (a <= 12 && b <= 31))
  return (
    (isYear(third) && isDay(first, second)) || (isYear(Number(text.slice(0, 4))) && isDay(Number(text.slice(4, 6)), Number(text.slice(6))))
  )
}

const isWord = (text: string): boolean => {
  const inner = core(text)
  const around = text.length - inner.length
  const outside = text.replace(inner, '')
  const isFew = around <= mostAround || isRow(outside) || unitOf(outside).length <= 2
  return isFew && [inner, read(inner)].some((one) => words.has(one) || words.has(core(one)))
}

/** Whether guessers would try it early. */
export function isCommonPassword(password: string): boolean {
  const text = password.normalize('NFKC').toLowerCase().trim()
  const plain = text.replace(/[\s._-]/g, '')
  return [text, plain].some((one) => {
    const unit = unitOf(one)
    if (unit.length <= 3 || isOfRows(unit) || isDate(one)) return true
    // A word with digits in it that stand for letters, at its ends, too: `pa55word`, `trustno1`.
    return [one, unit].some((candidate) => isWord(candidate) || words.has(read(candidate)))
  })
}
