"""What people eat, drink and take, and what ails them: word sets for claims that must not be told of anything else."""

from __future__ import annotations

from typing import Final

from lamina.language.wordsets import word_set

__all__ = ["CONDITIONS", "DRINKS", "FOODS", "MEATS", "MEDICINES", "SUFFERING", "diets_without", "is_medicine"]

DRINKS: Final = word_set(
    "coffee tea espresso latte cappuccino decaf matcha water juice soda cola lemonade milk beer wine cider kombucha cocoa "
    "alcohol caffeine whisky whiskey vodka gin rum champagne"
)
MEATS: Final = word_set(
    "meat beef pork chicken lamb bacon ham turkey duck veal venison steak sausage sausages burger burgers"
)
_SEAFOOD: Final = word_set(
    "fish seafood shellfish salmon tuna prawn prawns shrimp shrimps crab lobster mussels oysters cod anchovies"
)
_ANIMAL: Final = word_set("dairy cheese egg eggs milk butter yoghurt yogurt cream honey")
FOODS: Final = (
    MEATS
    | _SEAFOOD
    | _ANIMAL
    | word_set(
        "gluten wheat lactose soy soya nut nuts peanut peanuts almond almonds cashew cashews hazelnut hazelnuts walnut walnuts "
        "pistachio pistachios sesame mustard celery lupin sugar chocolate bread pasta rice corn tomato tomatoes potato potatoes "
        "onion onions garlic mushroom mushrooms strawberry strawberries kiwi banana bananas apple apples citrus orange oranges "
        "grapefruit pineapple mango avocado beans lentils legumes spice spices salt sweets sweeteners aspartame gelatine gelatin msg"
    )
)
MEDICINES: Final = word_set(
    "penicillin amoxicillin ibuprofen aspirin paracetamol codeine morphine antibiotics nsaids sulfa latex iodine"
)
_DRUGS: Final = (MEDICINES - {"latex", "iodine"}) | word_set(
    "insulin warfarin heparin antibiotic statin statins painkiller painkillers steroid steroids antidepressant antidepressants antihistamine "
    "antihistamines antacids anticoagulants diuretics immunosuppressants chemo tylenol advil nurofen calpol ventolin prozac zoloft lexapro "
    "xanax valium ritalin adderall concerta eliquis xarelto plavix lipitor nexium ozempic wegovy mounjaro viagra humira eltroxin euthyrox synthroid "
    "prednisone tramadol methadone lithium melatonin methotrexate digoxin amiodarone levodopa lamotrigine gabapentin pregabalin "
    "topiramate valproate carbamazepine phenytoin levetiracetam clopidogrel furosemide spironolactone bupropion "
    "mirtazapine venlafaxine duloxetine trazodone methylphenidate lisdexamfetamine salbutamol albuterol beclometasone loratadine cetirizine "
    "fexofenadine naproxen diclofenac paracetamol acetaminophen allopurinol colchicine hydroxychloroquine sulfasalazine "
    "mesalazine tamoxifen letrozole anastrozole finasteride tamsulosin sildenafil levothyroxine thyroxine carbimazole"
)
_DRUG_ENDINGS: Final = (
    "statin", "sartan", "olol", "prazole", "nazole", "cillin", "mycin", "oxacin", "oxetine", "alopram", "traline", "dipine", "gliptin", "glutide",
    "gliflozin", "formin", "xaban", "thiazide", "semide", "solone", "metasone", "tidine", "triptan", "lukast", "iclovir", "zepam", "zolam",
    "pril", "triptyline", "pramine", "tiapine", "zapine", "peridone", "profen", "coxib", "codone", "thyroxine", "umab", "dronate", "setron",
)  # fmt: skip
_DRUG_LENGTH_MIN: Final = 7
CONDITIONS: Final = {
    **dict.fromkeys(("asthma", "diabetes", "epilepsy", "eczema", "psoriasis", "arthritis", "hypertension", "anaemia")),
    **dict.fromkeys(("anemia", "ibs", "adhd", "autism", "dyslexia", "dementia", "haemophilia", "hemophilia", "parkinson's")),
    **dict.fromkeys(("alzheimer's", "tinnitus", "glaucoma", "osteoporosis", "endometriosis", "lupus", "cancer", "leukaemia")),
    "disease": frozenset(("coeliac", "celiac", "crohn's", "parkinson's", "alzheimer's", "heart", "kidney", "lyme")),
    "fever": frozenset(("hay",)),
    "pressure": frozenset(("high blood",)),
    "syndrome": frozenset(("down", "tourette", "asperger")),
}  # fmt: skip
"""Nouns of conditions that last; where a noun alone says too little, the words that must stand before it."""
SUFFERING: Final = {
    "diabetic": "diabetes", "asthmatic": "asthma", "epileptic": "epilepsy", "dyslexic": "dyslexia",
    "autistic": "autism", "anaemic": "anaemia", "anemic": "anaemia", "haemophiliac": "haemophilia",
}  # fmt: skip


def is_medicine(word: str) -> bool:
    """Whether a word in lower case names a medicine: by itself, or by the ending that its kind has ("atorvastatin", "ramipril")."""
    if word in _DRUGS:
        return True
    return len(word) >= _DRUG_LENGTH_MIN and word.endswith(_DRUG_ENDINGS)


def diets_without(food: str) -> tuple[str, ...]:
    """The diets that somebody who eats it does not keep."""
    if food in MEATS:
        return ("vegetarian", "vegan", "pescatarian")
    if food in _SEAFOOD:
        return ("vegetarian", "vegan")
    return ("vegan",) if food in _ANIMAL else ()
