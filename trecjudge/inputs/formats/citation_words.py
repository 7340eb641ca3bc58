"""Words around citations, in many languages: for a source, for "see", for a list of sources."""

from __future__ import annotations

from typing import Final

SOURCE: Final = (
    r"sources?|src|citations?|cite[sd]?|cit\.?|ref(?:erence)?s?|docs?|documents?|contexts?|ctx|"
    r"passages?|segments?|snippets?|chunks?|excerpts?|extracts?|items?|entr(?:y|ies)|articles?|"
    r"evidence|web|oaicite|(?:doc|chunk)[\s_-]?ids?|p(?:m|mc)?ids?|(?:search\s+)?results?|"
    r"quellen?|dokumente?|abschnitt|beleg|fuentes?|documentos?|fonti|fonte|extrait|bron(?:nen)?|"
    r"źródło|zdroj|kilder?|källa|lähde|kaynak|forrás|πηγή|sumber|nguồn|"
    r"источник(?:и)?|джерело|документ(?:ы)?|来源|出处|资料|文献|文档|片段|参考(?:资料|文献)|見?出典|見?資料|"
    r"参考資料|文書|출처|문서|स्रोत|(?:แหล่ง)?ที่มา|المصدر|مصدر|منبع|سند|מקור|"
    r"(?:ids?|urls?|links?|files?|doi)(?=\s*[:=：])"
)
"""Pattern of a word for a source, which may stand before what names it."""
SEE: Final = (
    r"(?:see(?:\s+also)?|cf\.?|siehe|vgl\.?|per|via|from|as\s+(?:in|per|stated\s+in|described\s+in)|"
    r"according\s+to|adapted\s+from|based\s+on|laut|gemäß|nach|selon|d['’]après|según|secondo|volgens|"
    r"见|見|参见)(?:\s+(?:the|la|le|el|il|de|der|den|lo))?"
)
"""Pattern of words that send a reader to a source."""
AND: Final = r"and|und|et|y|e|en|och|og|i|и|oder|or|ou"
"""Pattern of words between two sources."""
HEADINGS: Final = (
    r"(?:list\s+of\s+|supporting\s+|verwendete\s+|использованные\s+)?(?:references?|sources?|citations?|"
    r"source\s+documents?|documents?|evidence|links|notes?|legend|bibliography|works\s+cited|"
    r"footnotes?|endnotes?|further\s+reading|literature(?:\s+cited)?|"
    r"(?:source|reference|citation)\s+(?:list|legend)|(?:sources?|references?|documents?)\s+"
    r"(?:used|cited|consulted|referenced)(?:\s+in\s+this\s+\w+)?|cited\s+sources?|"
    r"references?\s*(?:&|and)\s*sources?|references?\s*\(\w+\)|"
    r"literatur(?:verzeichnis)?|quellen(?:verzeichnis|angaben)?|belege|einzelnachweise|"
    r"références(?:\s+bibliographiques)?|fuentes(?:\s+consultadas)?|"
    r"referencias(?:\s+bibliográficas)?|bibliograf[ií]a|bibliographie|fonti|riferimenti|bronnen|"
    r"bronvermelding|referenties|źródła|referências|fontes(?:\s+consultadas)?|kilder|källor|"
    r"lähteet|zdroje|kaynaklar|surse|források|πηγές|джерела|источники|sumber|daftar\s+pustaka|"
    r"nguồn|список\s+(?:литературы|источников)|литература|参考文献|参考资料|参考来源|引用来源|資料來源|"
    r"參考(?:資料|文獻)|参考資料|引用|出典|参考|来源|แหล่งที่มา|מקורות|संदर्भ|তথ্যসূত্র|حوالہ\s+جات|المصادر|"
    r"المراجع|منابع|참고\s*문헌|출처)"
)
"""Pattern of the heading of an answer's own list of sources."""
NO_SOURCE: Final = (
    r"sic|…|\.{2,}|x|\s*|emphasis.*|italics.*|translat.*|citation\s+needed|source\s+needed|redacted|"
    r"todo.*|laugh.*|applause|music|inaudible|enter|esc|tab|return|space|ctrl.*|shift.*|alt.*|"
    r"(?:fig(?:ure)?|table|step|notes?|verse|chorus|part|question|answer|option|intro|outro|scene|"
    r"confidence|draft|warning|tip)\b.*|yes\b.*|no\b.*|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r".*\b(?:your|insert|name|placeholder|hide|edit|update)\b.*"
)
"""Pattern of what people write into brackets that cites nothing."""
