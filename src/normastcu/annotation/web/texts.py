"""Every text of the screen that is ours, in Portuguese and in English."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from normastcu.annotation.records import Campaign
from normastcu.annotation.web.settings import Language

Texts = Mapping[str, str]

LANGUAGE_NAMES: Mapping[Language, str] = {"pt": "Português", "en": "English"}

_PORTUGUESE = {
    # frame
    "screen": "Avaliação de relevância",
    "skip_link": "Ir para o conteúdo",
    "site_menu": "Menu",
    "progress": "Progresso",
    "instructions": "Instruções",
    "campaign": "Campanha",
    "shortcuts": "Teclas",
    "language": "Idioma",
    "leave": "Sair",
    "signed_in_as": "Você entrou como {name}",
    "closed": "A campanha está encerrada: as respostas podem ser lidas, mas não mudadas.",
    # signing in, errors
    "sign_in_heading": "Entre com o seu link pessoal",
    "sign_in_body": "Abra o link que recebeu de quem coordena a avaliação. Ele é só seu: não o "
    "repasse. As respostas já registradas estão guardadas.",
    "bad_link_heading": "Este link não vale",
    "bad_link_body": "O link está incompleto ou foi cancelado. Confira se o copiou por inteiro; "
    "se for o caso, peça um novo a quem coordena a avaliação.",
    "slow_down_heading": "Tentativas demais",
    "slow_down_body": "Houve muitas tentativas de entrar sem um link válido. Espere {seconds} "
    "segundos e tente de novo.",
    "not_found_heading": "Página não encontrada",
    "not_found_body": "Não há nada neste endereço, ou não é seu. Volte ao seu progresso.",
    "forbidden_heading": "Acesso restrito",
    "forbidden_body": "Esta página é só para quem administra a campanha.",
    "stale_heading": "Página desatualizada",
    "stale_body": "Esta página é de uma sessão anterior. Volte, recarregue-a e repita a ação.",
    "invalid_heading": "O pedido não pôde ser entendido",
    "invalid_body": "Volte, recarregue a página e repita a ação.",
    "not_suggestible_heading": "A sugestão não foi aceita",
    "not_suggestible_body": "Este documento não pode ser sugerido para esta consulta: escolha "
    "outro.",
    "changed_heading": "Já há outra resposta",
    "changed_body": "Este documento já tem outra resposta, dada em outra página ou em outro "
    "aparelho. Volte, recarregue a página e responda de novo.",
    "closed_heading": "Campanha encerrada",
    "closed_body": "Respostas e sugestões não são mais aceitas.",
    "refused_heading": "O pedido não foi aceito",
    "failed_heading": "Algo deu errado",
    "failed_body": "O servidor não conseguiu responder. As respostas confirmadas estão guardadas; "
    "tente de novo em instantes.",
    "back_home": "Ir para o progresso",
    # progress
    "progress_heading": "Seu progresso",
    "progress_count": "{done} de {all} documentos avaliados",
    "start": "Começar",
    "resume": "Continuar de onde parou",
    "all_done": "Você avaliou todos os documentos. Obrigado! Ainda é possível rever as respostas.",
    "nothing_assigned": "Ainda não há documentos para você avaliar.",
    "see_skipped": "Ver os pulados ({n})",
    "queries_caption": "Consultas na sua ordem",
    "query": "Consulta",
    "evaluated": "Avaliados",
    "skipped_column": "Pulados",
    "suggested_column": "Sugeridos",
    "pages": "Páginas da tabela",
    "rows_of": "{first} a {last} de {n}",
    "first_page": "Início",
    "last_page": "Fim",
    "page_before": "Anteriores",
    "page_after": "Próximas",
    "second_round": "Segunda rodada",
    "second_round_hint": "Documentos em que as avaliações divergiram, mostrados de novo sem as "
    "respostas anteriores.",
    # judging
    "query_position": "Consulta {position} de {n}",
    "query_number": "nº {id}",
    "new_query": "nova consulta",
    "document_position": "Documento {position} de {n}",
    "documents_of_query": "Documentos desta consulta",
    "state_open": "sem resposta",
    "state_grade": "avaliado: {grade}",
    "state_unknown": "não sei",
    "state_skipped": "pulado",
    "document_number": "Número",
    "type": "Tipo",
    "status": "Situação",
    "in_force_since": "Em vigor desde",
    "not_stated": "não informado",
    "no_subject": "Sem assunto informado",
    "open_document": "Abrir o documento completo",
    "close_document": "Fechar o documento",
    "close": "Fechar",
    "full_document": "Documento completo",
    "highlight": "Destacar as palavras da consulta",
    "loading": "Carregando…",
    "document_failed": "O documento não pôde ser carregado. Verifique a conexão e abra de novo.",
    "empty_document": "Este documento não tem texto.",
    "flattened_document": "A formatação deste documento não pôde ser lida: só o texto é mostrado.",
    "how_relevant": "Qual é a relevância do documento para a consulta?",
    "unknown": "não sei",
    "comment": "Comentário",
    "comment_hint": "Opcional. É guardado com a resposta.",
    "previous": "Anterior",
    "next": "Próximo",
    "skip": "Pular",
    "undo": "Desfazer",
    "save": "Salvar e continuar",
    "go_on": "Avançar sozinho após a resposta",
    "actions": "Ações",
    "save_state": "Estado da gravação",
    "state_none": "Ainda sem resposta",
    "saving": "Salvando…",
    "saved": "Salvo",
    "was_skipped": "Pulado",
    "offline": "Sem conexão. A última escolha está guardada neste navegador e será enviada assim "
    "que o servidor voltar.",
    "offline_many": "Sem conexão. {n} registros estão guardados neste navegador e serão enviados "
    "assim que o servidor voltar.",
    "offline_stay": "Sem conexão: a escolha está guardada, mas só dá para seguir quando o servidor "
    "voltar.",
    "signed_out": "A sessão terminou. A escolha está guardada neste navegador: entre de novo com "
    "o seu link.",
    "stale_page": "Esta página é de uma sessão anterior. A escolha está guardada: recarregue a "
    "página.",
    "closed_kept": "A campanha está encerrada. A escolha está guardada neste navegador e será "
    "enviada se a campanha for reaberta.",
    "refused": "Não foi aceito: {reason}",
    "not_accepted": "Não aceito",
    "not_accepted_hint": "O servidor não aceitou o que segue. Fica só neste navegador até que "
    "você o dispense.",
    "dismiss": "Dispensar",
    "which_counts": "Este documento já tem outra resposta, dada em outra página ou em outro "
    "aparelho. Qual delas vale?",
    "chosen_here": "Aqui: {answer}",
    "saved_there": "Salva: {answer}",
    "use_chosen": "Vale a daqui",
    "keep_saved": "Vale a salva",
    "draft_kept": "O comentário será salvo junto com a resposta.",
    "comment_too_long": "O comentário passa de {n} caracteres.",
    "not_a_choice": "A escolha não é uma das opções da escala.",
    # suggesting
    "suggest_heading": "Sugerir outros documentos relevantes",
    "suggest_hint": "Conhece outro ato que responde a esta consulta? Procure-o pelo título, pelo "
    "assunto ou pelo número.",
    "search": "Procurar no acervo",
    "search_button": "Procurar",
    "no_results": "Nada encontrado. Tente outras palavras ou o número do ato.",
    "search_failed": "A busca não respondeu. Verifique a conexão e tente de novo.",
    "in_your_list": "já está na lista desta consulta",
    "pick": "Escolha um documento",
    "suggested_grade": "Relevância do documento sugerido",
    "reason": "Motivo",
    "reason_hint": "Por que este documento é relevante para a consulta?",
    "suggest_button": "Sugerir",
    "suggestion_incomplete": "Escolha um documento e uma nota, e escreva o motivo.",
    "suggestion_saved": "Sugestão salva.",
    "suggestion_kept": "Sem conexão. A sugestão está guardada e será enviada quando o servidor "
    "voltar.",
    "your_suggestions": "Suas sugestões para esta consulta",
    # keys
    "keys_heading": "Atalhos de teclado",
    "keys_intro": "Valem quando o cursor não está em um campo de texto.",
    "keys_on": "Usar os atalhos de uma tecla",
    "key_choose": "escolher a opção na ordem mostrada",
    "key_move": "passar pelas opções; espaço escolhe",
    "key_next": "próximo documento",
    "key_previous": "documento anterior",
    "key_document": "abrir ou fechar o documento completo",
    "key_highlight": "destacar as palavras da consulta",
    "key_comment": "escrever um comentário",
    "key_skip": "pular",
    "key_undo": "desfazer a última resposta",
    "key_suggest": "sugerir outro documento",
    "key_home": "ver o progresso",
    "key_help": "mostrar esta ajuda",
    "key_escape": "sair do campo, fechar o painel",
    "space": "Espaço",
    "enter": "Enter",
    "escape": "Esc",
    # administration
    "admin_heading": "Andamento da campanha",
    "admin_counts": "{queries} consultas, {pairs} pares de consulta e documento",
    "computed_at": "Calculado em {time} (UTC); numa campanha grande, uma vez por minuto.",
    "by_assessor": "Por avaliador",
    "assessor": "Avaliador",
    "unknown_column": "Não sei",
    "median_time": "Mediana de tempo",
    "seconds": "{n} s",
    "last_answer": "Última resposta (UTC)",
    "revoked": "link cancelado",
    "by_query": "Por consulta",
    "agreement": "Concordância até agora",
    "agreement_hint": "Kappa de Cohen com pesos quadráticos sobre os pares que ambos avaliaram "
    "(n), e alfa ordinal de Krippendorff. Só a primeira rodada; «não sei» não conta.",
    "alpha": "Alfa",
    "undefined": "indefinido: {reason}",
    "pair_of_assessors": "Avaliadores",
    "kappa": "Kappa",
    "n_pairs": "n",
    "disputed": "Pares em que mais se diverge",
    "no_disputed": "Até agora ninguém divergiu.",
    "document": "Documento",
    "grades": "Notas",
    "given": "Quem deu",
    "in_second_round": "já na segunda rodada",
    "adjudicate": "Iniciar a segunda rodada",
    "adjudicate_hint": "Os pares marcados são mostrados de novo aos avaliadores marcados, sem as "
    "respostas anteriores.",
    "adjudicate_pair": "Incluir {query} e {document}",
    "shown_again_to": "Mostrar de novo a",
    "adjudication_started": "{n} documentos foram postos na segunda rodada.",
    "adjudication_empty": "Marque ao menos um par e um avaliador.",
    "export": "Exportar tudo (.zip)",
    "export_hint": "Respostas, comentários, histórico, tempos e sugestões, a qualquer momento.",
    "no_assessors": "Ainda não há avaliadores.",
    # instructions
    "instructions_heading": "Instruções",
    "confirm": "Li e entendi",
    "already_confirmed": "Você já confirmou estas instruções.",
    "continue": "Continuar",
}

_ENGLISH = {
    # frame
    "screen": "Relevance assessment",
    "skip_link": "Skip to the content",
    "site_menu": "Menu",
    "progress": "Progress",
    "instructions": "Instructions",
    "campaign": "Campaign",
    "shortcuts": "Keys",
    "language": "Language",
    "leave": "Sign out",
    "signed_in_as": "Signed in as {name}",
    "closed": "The campaign is closed: answers can be read, but no longer changed.",
    # signing in, errors
    "sign_in_heading": "Sign in with your personal link",
    "sign_in_body": "Open the link you got from whoever runs the assessment. It is yours alone: do "
    "not pass it on. Answers that were recorded are safe.",
    "bad_link_heading": "This link is not valid",
    "bad_link_body": "The link is incomplete or was revoked. Check that you copied all of it; if "
    "so, ask whoever runs the assessment for a new one.",
    "slow_down_heading": "Too many attempts",
    "slow_down_body": "There were many attempts to sign in without a valid link. Wait {seconds} "
    "seconds and try again.",
    "not_found_heading": "Page not found",
    "not_found_body": "There is nothing at this address, or it is not yours. Go back to your "
    "progress.",
    "forbidden_heading": "Restricted",
    "forbidden_body": "This page is only for those who administer the campaign.",
    "stale_heading": "Outdated page",
    "stale_body": "This page belongs to an earlier session. Go back, reload it and try again.",
    "invalid_heading": "The request could not be understood",
    "invalid_body": "Go back, reload the page and try again.",
    "not_suggestible_heading": "The suggestion was not accepted",
    "not_suggestible_body": "This document can't be suggested for this query: pick another one.",
    "changed_heading": "There is another answer already",
    "changed_body": "This document has another answer already, given on another page or another "
    "device. Go back, reload the page and answer again.",
    "closed_heading": "Campaign closed",
    "closed_body": "Answers and suggestions are no longer taken.",
    "refused_heading": "The request was not accepted",
    "failed_heading": "Something went wrong",
    "failed_body": "The server could not answer. Confirmed answers are safe; try again in a "
    "moment.",
    "back_home": "Go to the progress page",
    # progress
    "progress_heading": "Your progress",
    "progress_count": "{done} of {all} documents judged",
    "start": "Start",
    "resume": "Go on where you stopped",
    "all_done": "You have judged every document. Thank you! You can still review your answers.",
    "nothing_assigned": "There are no documents for you to judge yet.",
    "see_skipped": "See the skipped ones ({n})",
    "queries_caption": "Queries in your order",
    "query": "Query",
    "evaluated": "Judged",
    "skipped_column": "Skipped",
    "suggested_column": "Suggested",
    "pages": "Pages of the table",
    "rows_of": "{first} to {last} of {n}",
    "first_page": "Start",
    "last_page": "End",
    "page_before": "Earlier",
    "page_after": "Later",
    "second_round": "Second round",
    "second_round_hint": "Documents on which the judgments differed, shown again without the "
    "earlier answers.",
    # judging
    "query_position": "Query {position} of {n}",
    "query_number": "no. {id}",
    "new_query": "new query",
    "document_position": "Document {position} of {n}",
    "documents_of_query": "Documents of this query",
    "state_open": "no answer",
    "state_grade": "judged: {grade}",
    "state_unknown": "don't know",
    "state_skipped": "skipped",
    "document_number": "Number",
    "type": "Type",
    "status": "Status",
    "in_force_since": "In force since",
    "not_stated": "not stated",
    "no_subject": "No subject stated",
    "open_document": "Open the full document",
    "close_document": "Close the document",
    "close": "Close",
    "full_document": "Full document",
    "highlight": "Highlight the words of the query",
    "loading": "Loading…",
    "document_failed": "The document could not be loaded. Check the connection and open it again.",
    "empty_document": "This document has no text.",
    "flattened_document": "The layout of this document could not be read: only its text is shown.",
    "how_relevant": "How relevant is the document to the query?",
    "unknown": "don't know",
    "comment": "Comment",
    "comment_hint": "Optional. It is kept with the answer.",
    "previous": "Previous",
    "next": "Next",
    "skip": "Skip",
    "undo": "Undo",
    "save": "Save and go on",
    "go_on": "Go on by itself after an answer",
    "actions": "Actions",
    "save_state": "State of saving",
    "state_none": "No answer yet",
    "saving": "Saving…",
    "saved": "Saved",
    "was_skipped": "Skipped",
    "offline": "Offline. Your last choice is kept in this browser and will be sent as soon as the "
    "server is back.",
    "offline_many": "Offline. {n} records are kept in this browser and will be sent as soon as the "
    "server is back.",
    "offline_stay": "Offline: your choice is kept, but you can only go on when the server is back.",
    "signed_out": "The session has ended. Your choice is kept in this browser: sign in again with "
    "your link.",
    "stale_page": "This page belongs to an earlier session. Your choice is kept: reload the page.",
    "closed_kept": "The campaign is closed. Your choice is kept in this browser and will be sent "
    "if the campaign is opened again.",
    "refused": "Not accepted: {reason}",
    "not_accepted": "Not accepted",
    "not_accepted_hint": "The server did not accept what follows. It is kept in this browser alone "
    "until you dismiss it.",
    "dismiss": "Dismiss",
    "which_counts": "This document has another answer already, given on another page or another "
    "device. Which of them counts?",
    "chosen_here": "Here: {answer}",
    "saved_there": "Saved: {answer}",
    "use_chosen": "Use the one from here",
    "keep_saved": "Keep the saved one",
    "draft_kept": "The comment will be saved with your answer.",
    "comment_too_long": "The comment is longer than {n} characters.",
    "not_a_choice": "The choice is not one of the scale.",
    # suggesting
    "suggest_heading": "Suggest further relevant documents",
    "suggest_hint": "Do you know another act that answers this query? Search by title, subject or "
    "number.",
    "search": "Search the collection",
    "search_button": "Search",
    "no_results": "Nothing found. Try other words or the act's number.",
    "search_failed": "The search did not answer. Check the connection and try again.",
    "in_your_list": "already in the list of this query",
    "pick": "Pick a document",
    "suggested_grade": "Relevance of the suggested document",
    "reason": "Reason",
    "reason_hint": "Why is this document relevant to the query?",
    "suggest_button": "Suggest",
    "suggestion_incomplete": "Pick a document and a grade, and write the reason.",
    "suggestion_saved": "Suggestion saved.",
    "suggestion_kept": "Offline. The suggestion is kept and will be sent when the server is back.",
    "your_suggestions": "Your suggestions for this query",
    # keys
    "keys_heading": "Keyboard shortcuts",
    "keys_intro": "They work while the cursor is not in a text field.",
    "keys_on": "Use the single-key shortcuts",
    "key_choose": "pick the choice in the order shown",
    "key_move": "move through the choices; space picks one",
    "key_next": "next document",
    "key_previous": "previous document",
    "key_document": "open or close the full document",
    "key_highlight": "highlight the words of the query",
    "key_comment": "write a comment",
    "key_skip": "skip",
    "key_undo": "undo the last answer",
    "key_suggest": "suggest another document",
    "key_home": "see the progress",
    "key_help": "show this help",
    "key_escape": "leave the field, close the panel",
    "space": "Space",
    "enter": "Enter",
    "escape": "Esc",
    # administration
    "admin_heading": "State of the campaign",
    "admin_counts": "{queries} queries, {pairs} pairs of query and document",
    "computed_at": "Computed at {time} (UTC); once a minute in a large campaign.",
    "by_assessor": "By assessor",
    "assessor": "Assessor",
    "unknown_column": "Don't know",
    "median_time": "Median time",
    "seconds": "{n} s",
    "last_answer": "Last answer (UTC)",
    "revoked": "link revoked",
    "by_query": "By query",
    "agreement": "Agreement so far",
    "agreement_hint": "Cohen's kappa with quadratic weights over the pairs that both judged (n), "
    "and Krippendorff's ordinal alpha. First round only; don't know does not count.",
    "alpha": "Alpha",
    "undefined": "undefined: {reason}",
    "pair_of_assessors": "Assessors",
    "kappa": "Kappa",
    "n_pairs": "n",
    "disputed": "Most disputed pairs",
    "no_disputed": "Nobody has differed so far.",
    "document": "Document",
    "grades": "Grades",
    "given": "Who gave what",
    "in_second_round": "already in the second round",
    "adjudicate": "Start the second round",
    "adjudicate_hint": "The ticked pairs are shown again to the ticked assessors, without the "
    "earlier answers.",
    "adjudicate_pair": "Include {query} and {document}",
    "shown_again_to": "Show again to",
    "adjudication_started": "{n} documents were put into the second round.",
    "adjudication_empty": "Tick at least one pair and one assessor.",
    "export": "Export everything (.zip)",
    "export_hint": "Answers, comments, history, times and suggestions, at any time.",
    "no_assessors": "There are no assessors yet.",
    # instructions
    "instructions_heading": "Instructions",
    "confirm": "I have read and understood this",
    "already_confirmed": "You have already confirmed these instructions.",
    "continue": "Continue",
}

TEXTS: Mapping[Language, Texts] = MappingProxyType({"pt": _PORTUGUESE, "en": _ENGLISH})

_REASONS_IN_PORTUGUESE = {
    "no pair was graded by both": "nenhum par foi avaliado por ambos",
    "no pair was graded by two annotators": "nenhum par foi avaliado por duas pessoas",
    "both annotators gave only the grade": "ambos deram só a nota",
    "all grades are equal": "todas as notas são iguais",
}
"""Why a statistic is undefined, as the evaluation says it (a grade may follow)."""

IN_THE_BROWSER = (
    "saving",
    "saved",
    "was_skipped",
    "state_none",
    "offline",
    "offline_many",
    "offline_stay",
    "signed_out",
    "stale_page",
    "closed_kept",
    "refused",
    "dismiss",
    "chosen_here",
    "saved_there",
    "use_chosen",
    "keep_saved",
    "draft_kept",
    "loading",
    "document_failed",
    "open_document",
    "close_document",
    "search_failed",
    "suggestion_incomplete",
    "suggestion_saved",
    "suggestion_kept",
)
"""Texts that the page's scripts show."""


def language_of(wanted: str, offered: Sequence[Language]) -> Language:
    """Return the first offered language that a browser or a person asks for, else the first.

    Parameters
    ----------
    wanted
        A language, or the header ``Accept-Language``; its weights are taken to fall.

    Examples
    --------
    >>> language_of("fr, en-GB;q=0.8, pt;q=0.5", ("pt", "en"))
    'en'
    >>> language_of("", ("pt", "en"))
    'pt'
    """
    for part in wanted.lower().split(","):
        for language in offered:
            if part.strip().split(";")[0].split("-")[0] == language:
                return language
    return offered[0]


def undefined_reason(reason: str, language: Language) -> str:
    """Return why a statistic is undefined, in a language where it is known in it.

    Examples
    --------
    >>> undefined_reason("both annotators gave only the grade 0", "pt")
    'ambos deram só a nota 0'
    """
    if language == "pt":
        for english, portuguese in _REASONS_IN_PORTUGUESE.items():
            if reason == english or reason.startswith(f"{english} "):
                return portuguese + reason.removeprefix(english)
    return reason


def grade_name(campaign: Campaign, grade: int, language: Language) -> str:
    """Return a grade's name in a language; in the collection's own where it has no other."""
    return campaign.names.get(grade, {}).get(language) or campaign.scale.names[grade]


def grade_names(campaign: Campaign, language: Language) -> dict[int, str]:
    """Return the names of all grades in a language."""
    return {grade: grade_name(campaign, grade, language) for grade in campaign.scale.values}


def definition(campaign: Campaign, grade: int, language: Language) -> str:
    """Return what a grade means; in any language rather than in none."""
    return _in_language(campaign.definitions.get(grade, {}), language)


def unknown_definition(campaign: Campaign, language: Language) -> str:
    """Return what *don't know* means; in any language rather than in none."""
    return _in_language(campaign.unknown_definition, language)


def _in_language(by_language: Mapping[str, str], language: Language) -> str:
    return by_language.get(language) or next(iter(by_language.values()), "")
