package v1

import (
	"testing"
	"unicode/utf8"

	"acp-agent/tools"
)

func TestQuestioner_Secrets(t *testing.T) {
	for _, text := range []string{
		"What is your database password?", "Please enter the API key for the service", "OPENAI api_key?", "Paste your GitHub token here.",
		"What is your token?", "Give me the credentials for staging", "Which access token should I use?", "Type your PIN",
	} {
		answers, got, err := questionWith(t, true, "", nil, tools.Question{Question: "What name?"}, tools.Question{Question: text})
		wantRefusal(t, answers, err, tools.BadInput, "secret")
		if got != nil {
			t.Errorf("%q was asked", text)
		}
	}
}

func TestSecretAsked(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Enter your password, type it here", "Enter password: format is free", "Please provide the API key (storage not needed)",
		"Your password? Type it here", "Token? Paste it here please.", "Password. Field below.",
		"Where is the service, and what is the password?", "Should I log in? Enter the password", "Is this your password?",
		// names
		"What value does OPENAI_API_KEY have?", "openaiApiKey?", "GitHub PAT?", "What is the database connection string for production?",
		"Enter your login details for GitHub", "What's your login?", "What is the token for staging?", "Your passphrase?",
		"Please type the seed phrase of the wallet", "What is your pin?", "Which client_secret should be used", "I need your credentials",
		"Could you give me the SSH key?", "Verification code", "What are the recovery codes?", "The 2FA code, please",
		"Do you want to enter the password now?", "What is the pin, please?",
		// files
		"Paste the output of: cat ~/.aws/credentials", "Please paste the contents of your .env file", "What's in your .env?",
		"What does the file ~/.ssh/id_ed25519 contain?", "Send me the .npmrc", "Can you show me your server.pem?", "Give me the content of .env.local",
		// languages
		"Gib mir bitte dein Passwort", "Wie lautet das Kennwort?", "Quel est votre mot de passe ?", "¿Cuál es tu contraseña?", "Qual é a sua senha?",
		"Inserisci la password", "Wat is je wachtwoord?", "Podaj hasło", "Введите пароль",
		// words after the name
		"Enter the password below.", "Paste the API key in the field", "Please paste your OpenAI API key in the box below:",
		"Enter your password again", "Please enter the password you use for staging", "Tell me the API key so that I can test the call",
		"What password do you use for the database?", "What password does the admin user have?", "What is the CVV?",
		// other letters
		"Your ｐａｓｓｗｏｒｄ?", "Your pass\u200bword?", "Your pa\u00adssword?", "PASSWORD",
	} {
		if secretAsked([]tools.Question{{Question: text}}) == "" {
			t.Errorf("%q is not taken for asking for a secret", text)
		}
		if secretAsked([]tools.Question{{Question: text, Options: options("a", "b")}}) != "" {
			t.Errorf("a choice is taken for asking for a secret: %q", text)
		}
	}
}

// What is about secrets, or names one for another reason, is asked: only secretNotice
// stands below it.
func TestSecretAsked_Harmless(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Which password hashing algorithm should be used?", "How many tokens may a line of the parser have?", "Where should secrets be stored?",
		"Which version should I pin?", "Should passwords be checked for length?", "Which token bucket size?",
		"Should passwords be hashed with bcrypt or argon2?", "Where is the API key read from?", "Where does the API key come from?",
		"How should the API key be given?", "How long should passwords be?", "How is the password stored?", "What is the password policy?",
		"Which environment variable holds the API key?", "Which header carries the access token?", "What file is the private key in?",
		"Does the API key expire?", "Is the password optional?", "Should we share tokens between sessions?", "Which type should the token have?",
		"Which type of token is it?", "What is the token limit?", "What key binding should open it?", "Which key should the map have?",
		"What is the primary key of the table?", "Enter the key name for the cache", "What is your preferred token lifetime?", "Which GPIO pin number?",
		"Which login method should be offered?", "Should the login page show a logo?", "Ask Pat or Kim?", "What should the prefix of the path be?",
		"Should the .env file be committed?", "Which keys should .env.example list? Paste the contents of the README section.",
		"Where does the .env file belong?", "Should I copy .env.example to .env?", "What name should the new module have?", "Welchen Namen soll es haben?",
		"Sollen Passwörter gehasht werden?", "Which keyboard layout do you use?", "Paste the output of `go env`.", "What is the error message?",
		"Enter the port", "Type a title for the page", "What should happen when a token is invalid?", "How should tokens be validated?",
		"What is the login URL?", "What is the token symbol?", "How many characters should a password have?",
		"What minimum length should the password have?", "What should happen when the API key is missing?",
		"How do you want to handle an expired session token?", "Do you want to store the private key in a vault?",
		"What are the rules for the password?", "Who may see the password?", "Want me to move the API key to a vault?",
	} {
		if secretAsked([]tools.Question{{Question: text}}) != "" {
			t.Errorf("%q is taken for asking for a secret", text)
		}
	}
}

func FuzzSecretAsked(f *testing.F) {
	f.Add("Enter your pаssword: format")
	f.Add("what's in .env")
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.RuneCountInString(text) > proseRunes-50 {
			return // what would be cut off is not shown
		}
		if asked := text + "\nEnter your password"; secretAsked([]tools.Question{{Question: asked}}) == "" {
			t.Errorf("%q hides what is asked", asked)
		}
	})
}
