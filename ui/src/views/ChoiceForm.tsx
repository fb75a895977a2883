// A question of the agent's with options to choose from, or an answer in one's own words.

import { createSignal, createUniqueId, For, Show } from 'solid-js'
import type { AnswerParams, Question } from '../protocol'
import { visible } from '../text/escape'
import { Icon } from './Icon'

const OTHER = '\u0000other'

export function ChoiceForm(props: {
  question: Extract<Question, { kind: 'choice' }>
  busy: boolean
  onAnswer(params: AnswerParams): void
}) {
  const [chosen, setChosen] = createSignal<Record<string, string[]>>({})
  const [own, setOwn] = createSignal<Record<string, string>>({})
  const group = createUniqueId()

  const toggle = (question: string, label: string, many: boolean) =>
    setChosen(all => {
      const before = all[question] ?? []
      if (!many) return { ...all, [question]: [label] }
      const next = before.includes(label) ? before.filter(other => other !== label) : [...before, label]
      return { ...all, [question]: next }
    })
  const answerTo = (question: string) =>
    (chosen()[question] ?? [])
      .map(label => (label === OTHER ? (own()[question] ?? '').trim() : label))
      .filter(label => label !== '')
      .join(', ')
  const complete = () => props.question.questions.every(({ question }) => answerTo(question) !== '')
  const submit = (event: Event) => {
    event.preventDefault()
    if (!complete() || props.busy) return
    props.onAnswer({
      questionId: props.question.questionId,
      decision: 'allow',
      answers: Object.fromEntries(
        props.question.questions.map(({ question }) => [question, answerTo(question)]),
      ),
    })
  }

  return (
    <form class="choices" onSubmit={submit}>
      <For each={props.question.questions}>
        {(asked, index) => (
          <fieldset>
            <legend class="question-title">
              <Icon name="question" />
              <span>{visible(asked.question)}</span>
            </legend>
            <For each={[...asked.options, { label: OTHER, description: '' }]}>
              {option => (
                <label class="choice">
                  <input
                    type={asked.multiSelect ? 'checkbox' : 'radio'}
                    name={`${group}-${index()}`}
                    checked={(chosen()[asked.question] ?? []).includes(option.label)}
                    onChange={() => toggle(asked.question, option.label, asked.multiSelect)}
                  />
                  <Show
                    when={option.label === OTHER}
                    fallback={
                      <span>
                        {visible(option.label)} <span class="quiet">{visible(option.description)}</span>
                      </span>
                    }
                  >
                    <input
                      class="input"
                      aria-label="Another answer"
                      placeholder="Another answer"
                      value={own()[asked.question] ?? ''}
                      onInput={event => {
                        const value = event.currentTarget.value
                        setOwn(all => ({ ...all, [asked.question]: value }))
                        if (!(chosen()[asked.question] ?? []).includes(OTHER)) {
                          toggle(asked.question, OTHER, asked.multiSelect)
                        }
                      }}
                    />
                  </Show>
                </label>
              )}
            </For>
          </fieldset>
        )}
      </For>
      <div class="question-buttons">
        <button type="submit" class="button primary" disabled={!complete() || props.busy}>
          Answer
        </button>
        <button
          type="button"
          class="button"
          disabled={props.busy}
          onClick={() => props.onAnswer({ questionId: props.question.questionId, decision: 'deny' })}
        >
          Skip
        </button>
      </div>
    </form>
  )
}
