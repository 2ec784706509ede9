/** Thrown where a case asks for something that this project does not have. Said aloud, never counted as passed. */
export class Skip extends Error {
  isSkip = true
}
